// Every solver, once: TB_SOLVER(law, name, function). No include guard: included with TB_SOLVER
// defined.
TB_SOLVER(NCP, "pgs", tb_solve_ncp_pgs)
TB_SOLVER(NCP, "ipm", tb_solve_ncp_ipm)
TB_SOLVER(NCP, "newton", tb_solve_ncp_newton)
TB_SOLVER(NCP, "auto", tb_solve_ncp_auto)
