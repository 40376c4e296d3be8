// Every field of tbModel, declared once. Allocation, copy, save, load and checks come from these
// lists.
//
//   TB_MODEL_SIZES(X)   X(name, what)
//   TB_MODEL_ARRAYS(X)  X(type, name, rows, columns, unit, what)    rows is a size above
//
// Names follow MuJoCo. Addresses ("adr") are -1 where there is nothing; ids are -1 for none.
#ifndef TRIBO_MODEL_FIELDS_H_
#define TRIBO_MODEL_FIELDS_H_

// Sizes of parameter vectors.
#define TB_NREF 2      // solref
#define TB_NIMP 5      // solimp
#define TB_NDYN 10     // dynprm
#define TB_NGAIN 10    // gainprm
#define TB_NBIAS 10    // biasprm
#define TB_NEQDATA 11  // eq_data
#define TB_NGUESS 96   // mesh_hullguess: start vertices of a hull's searches
#define TB_NCELL 8     // hull_cell: vertices per cell of directions

#define TB_MODEL_SIZES(X)                                                   \
  X(nq, "configuration coordinates, length of qpos")                        \
  X(nv, "degrees of freedom, length of qvel")                               \
  X(nu, "actuators, length of ctrl")                                        \
  X(na, "activation states, length of act")                                 \
  X(nbody, "bodies, the world included")                                    \
  X(njnt, "joints")                                                         \
  X(ntree, "kinematic trees under the world")                               \
  X(nM, "entries of the lower triangle of M by tree sparsity")              \
  X(ngeom, "geoms")                                                         \
  X(nsite, "sites")                                                         \
  X(ncam, "cameras")                                                        \
  X(nlight, "lights")                                                       \
  X(nmesh, "meshes")                                                        \
  X(nmeshvert, "vertices of all meshes")                                    \
  X(nmeshface, "triangles of all meshes")                                   \
  X(nhullvert, "vertices of all convex hulls")                              \
  X(nhulladr, "entries of hull_vertadr: one more than vertices, per hull")  \
  X(nhulledge, "directed edges of all hulls' vertex graphs")                \
  X(nhullface, "polygonal faces of all hulls")                              \
  X(nhullfaceadr, "entries of hull_faceadr: one more than faces, per hull") \
  X(nhullpoly, "vertex indices of all hull faces")                          \
  X(nhullcell, "vertex indices of all hulls' cells of directions")          \
  X(nhfield, "height fields")                                               \
  X(nhfielddata, "samples of all height fields")                            \
  X(npair, "explicit contact pairs")                                        \
  X(nexclude, "excluded body pairs")                                        \
  X(neq, "equality constraints")                                            \
  X(ntendon, "tendons")                                                     \
  X(nwrap, "path elements of all tendons")                                  \
  X(nJten, "entries of the tendon Jacobian's sparsity pattern")             \
  X(nJmom, "entries of the actuator moments' sparsity pattern")             \
  X(nsensor, "sensors")                                                     \
  X(nsensordata, "length of sensordata")                                    \
  X(nnumeric, "custom numeric fields")                                      \
  X(nnumericdata, "values of all numeric fields")                           \
  X(ntext, "custom text fields")                                            \
  X(ntextdata, "characters of all text fields, zeros included")             \
  X(ntuple, "custom tuples")                                                \
  X(ntupledata, "objects of all tuples")                                    \
  X(nkey, "keyframes")                                                      \
  X(nmocap, "mocap bodies")                                                 \
  X(nuserdata, "user values per world")                                     \
  X(nuser_body, "user values per body")                                     \
  X(nuser_jnt, "user values per joint")                                     \
  X(nuser_geom, "user values per geom")                                     \
  X(nuser_site, "user values per site")                                     \
  X(nuser_tendon, "user values per tendon")                                 \
  X(nuser_actuator, "user values per actuator")                             \
  X(nuser_sensor, "user values per sensor")                                 \
  X(nnames, "characters of all names, zeros included")                      \
  X(nnotes, "characters of the notes on what was skipped at load")

#define TB_MODEL_ARRAYS(X)                                                                         \
  /* reference configuration */                                                                    \
  X(tbReal, qpos0, nq, 1, "", "configuration of the file's pose")                                  \
  X(tbReal, qpos_spring, nq, 1, "", "configuration where joint springs rest")                      \
  /* bodies */                                                                                     \
  X(int, body_parentid, nbody, 1, "", "parent; the world is its own")                              \
  X(int, body_rootid, nbody, 1, "", "ancestor that is a child of the world")                       \
  X(int, body_weldid, nbody, 1, "", "nearest ancestor (or self) with a joint, or the world")       \
  X(int, body_mocapid, nbody, 1, "", "index of mocap pose, or -1")                                 \
  X(int, body_jntnum, nbody, 1, "", "joints of this body")                                         \
  X(int, body_jntadr, nbody, 1, "", "first joint")                                                 \
  X(int, body_dofnum, nbody, 1, "", "degrees of freedom of this body")                             \
  X(int, body_dofadr, nbody, 1, "", "first degree of freedom")                                     \
  X(int, body_treeid, nbody, 1, "", "tree, or -1 if the body cannot move")                         \
  X(int, body_geomnum, nbody, 1, "", "geoms of this body")                                         \
  X(int, body_geomadr, nbody, 1, "", "first geom")                                                 \
  X(int, body_lastdof, nbody, 1, "", "last dof on the path from the world, or -1")                 \
  X(int, body_subtreenum, nbody, 1, "", "bodies of the subtree; they follow this one")             \
  X(int, body_sameframe, nbody, 1, "", "1: the inertial frame is the body's; 3: its axes are")     \
  X(tbReal, body_pos, nbody, 3, "m", "position in the parent")                                     \
  X(tbReal, body_quat, nbody, 4, "", "orientation in the parent")                                  \
  X(tbReal, body_ipos, nbody, 3, "m", "centre of mass in the body")                                \
  X(tbReal, body_iquat, nbody, 4, "", "principal axes in the body")                                \
  X(tbReal, body_imat, nbody, 9, "", "the same as a matrix; set by tb_set_constants")              \
  X(tbReal, body_mass, nbody, 1, "kg", "mass")                                                     \
  X(tbReal, body_subtreemass, nbody, 1, "kg", "mass of the subtree")                               \
  X(tbReal, body_inertia, nbody, 3, "kg m2", "principal moments")                                  \
  X(tbReal, body_invweight0, nbody, 2, "1/kg", "mean inverse weight at qpos0: linear, angular")    \
  X(tbReal, body_gravcomp, nbody, 1, "", "share of gravity that is compensated")                   \
  X(tbReal, body_margin, nbody, 1, "m", "largest margin of its geoms")                             \
  X(tbReal, body_user, nbody, nuser_body, "", "user values")                                       \
  /* joints */                                                                                     \
  X(int, jnt_type, njnt, 1, "", "tbJointType")                                                     \
  X(int, jnt_qposadr, njnt, 1, "", "first coordinate")                                             \
  X(int, jnt_dofadr, njnt, 1, "", "first degree of freedom")                                       \
  X(int, jnt_bodyid, njnt, 1, "", "body")                                                          \
  X(int, jnt_group, njnt, 1, "", "group")                                                          \
  X(int, jnt_limited, njnt, 1, "", "1 if the range is a limit")                                    \
  X(int, jnt_actfrclimited, njnt, 1, "", "1 if the total actuator force is clamped")               \
  X(int, jnt_actgravcomp, njnt, 1, "", "1 if gravity compensation counts as actuator force")       \
  X(tbReal, jnt_solref, njnt, TB_NREF, "", "soft limit: reference")                                \
  X(tbReal, jnt_solimp, njnt, TB_NIMP, "", "soft limit: impedance")                                \
  X(tbReal, jnt_pos, njnt, 3, "m", "anchor in the body")                                           \
  X(tbReal, jnt_axis, njnt, 3, "", "unit axis in the body")                                        \
  X(tbReal, jnt_anchor, njnt, 3, "m", "anchor in the parent, were it the body's only joint")       \
  X(tbReal, jnt_turn, njnt, 4, "", "body_quat times the axis as a quaternion (0, axis)")           \
  X(tbReal, jnt_stiffness, njnt, 1, "N/m or N m/rad", "spring towards qpos_spring")                \
  X(tbReal, jnt_range, njnt, 2, "m or rad", "limits; ball: (0, largest angle)")                    \
  X(tbReal, jnt_actfrcrange, njnt, 2, "N or N m", "clamp of the total actuator force")             \
  X(tbReal, jnt_margin, njnt, 1, "m or rad", "distance at which the limit becomes active")         \
  X(tbReal, jnt_user, njnt, nuser_jnt, "", "user values")                                          \
  /* degrees of freedom */                                                                         \
  X(int, dof_bodyid, nv, 1, "", "body")                                                            \
  X(int, dof_jntid, nv, 1, "", "joint")                                                            \
  X(int, dof_parentid, nv, 1, "", "previous dof on the path to the world, or -1")                  \
  X(int, dof_treeid, nv, 1, "", "tree")                                                            \
  X(int, dof_subtreenum, nv, 1, "", "dofs that move when this one does, itself included")          \
  X(tbReal, dof_solref, nv, TB_NREF, "", "soft dry friction: reference")                           \
  X(tbReal, dof_solimp, nv, TB_NIMP, "", "soft dry friction: impedance")                           \
  X(tbReal, dof_frictionloss, nv, 1, "N or N m", "dry friction")                                   \
  X(tbReal, dof_armature, nv, 1, "kg or kg m2", "rotor inertia added to M")                        \
  X(tbReal, dof_damping, nv, 1, "N s/m or N m s/rad", "viscous friction")                          \
  X(tbReal, dof_invweight0, nv, 1, "", "mean diagonal of M^-1 at qpos0, over the joint")           \
  X(tbReal, dof_M0, nv, 1, "", "diagonal of M at qpos0")                                           \
  /* trees */                                                                                      \
  X(int, tree_bodyadr, ntree, 1, "", "first body")                                                 \
  X(int, tree_bodynum, ntree, 1, "", "bodies")                                                     \
  X(int, tree_dofadr, ntree, 1, "", "first dof")                                                   \
  X(int, tree_dofnum, ntree, 1, "", "dofs")                                                        \
  /* M by rows: row i holds dof i's ancestors in ascending order, i last */                        \
  X(int, M_rowadr, nv, 1, "", "first entry of the row")                                            \
  X(int, M_rownnz, nv, 1, "", "entries of the row")                                                \
  X(int, M_colind, nM, 1, "", "columns")                                                           \
  X(int, M_rowrun, nv, 1, "", "first dof of the chain of successive parents that ends here")       \
  /* geoms */                                                                                      \
  X(int, geom_type, ngeom, 1, "", "tbGeomType")                                                    \
  X(int, geom_contype, ngeom, 1, "", "collision bits")                                             \
  X(int, geom_conaffinity, ngeom, 1, "", "bits it collides with")                                  \
  X(int, geom_condim, ngeom, 1, "", "1, 3, 4 or 6")                                                \
  X(int, geom_bodyid, ngeom, 1, "", "body")                                                        \
  X(int, geom_dataid, ngeom, 1, "", "mesh or height field, or -1")                                 \
  X(int, geom_group, ngeom, 1, "", "group")                                                        \
  X(int, geom_priority, ngeom, 1, "", "the higher priority decides the contact's parameters")      \
  X(int, geom_fluid, ngeom, 1, "", "1 if the ellipsoid fluid model applies")                       \
  X(int, geom_sameframe, ngeom, 1, "", "1: the body's frame; 2: its inertial frame; 3: its axes")  \
  X(tbReal, geom_size, ngeom, 3, "m", "sizes, see tbGeomType")                                     \
  X(tbReal, geom_aabb, ngeom, 6, "m", "box in the geom's frame: centre, half sizes")               \
  X(tbReal, geom_rbound, ngeom, 1, "m", "bounding radius; 0 for planes")                           \
  X(tbReal, geom_pos, ngeom, 3, "m", "position in the body")                                       \
  X(tbReal, geom_quat, ngeom, 4, "", "orientation in the body")                                    \
  X(tbReal, geom_mat, ngeom, 9, "", "the same as a matrix; set by tb_set_constants")               \
  X(tbReal, geom_friction, ngeom, 3, "-, m, m", "sliding, torsional, rolling")                     \
  X(tbReal, geom_solmix, ngeom, 1, "", "weight when soft parameters are mixed")                    \
  X(tbReal, geom_solref, ngeom, TB_NREF, "", "soft contact: reference")                            \
  X(tbReal, geom_solimp, ngeom, TB_NIMP, "", "soft contact: impedance")                            \
  X(tbReal, geom_margin, ngeom, 1, "m", "the contact force acts below this distance")              \
  X(tbReal, geom_gap, ngeom, 1, "m", "detection distance beyond the margin; no force there")       \
  X(tbReal, geom_restitution, ngeom, 1, "", "rigid laws: coefficient of restitution")              \
  X(tbReal, geom_compliance, ngeom, 1, "m/N", "rigid laws: compliance of a contact, 0 = rigid")    \
  X(tbReal, geom_tangentcompliance, ngeom, 1, "m/N", "the same along the tangents, for friction")  \
  X(tbReal, geom_contactdamping, ngeom, 1, "N s/m", "rigid laws: damping of a compliant contact")  \
  X(tbReal, geom_fluidcoef, ngeom, 5, "", "ellipsoid fluid model coefficients")                    \
  X(float, geom_rgba, ngeom, 4, "", "colour")                                                      \
  X(tbReal, geom_user, ngeom, nuser_geom, "", "user values")                                       \
  /* sites */                                                                                      \
  X(int, site_type, nsite, 1, "", "tbGeomType")                                                    \
  X(int, site_bodyid, nsite, 1, "", "body")                                                        \
  X(int, site_group, nsite, 1, "", "group")                                                        \
  X(int, site_sameframe, nsite, 1, "", "as geom_sameframe")                                        \
  X(tbReal, site_size, nsite, 3, "m", "sizes")                                                     \
  X(tbReal, site_pos, nsite, 3, "m", "position in the body")                                       \
  X(tbReal, site_quat, nsite, 4, "", "orientation in the body")                                    \
  X(tbReal, site_mat, nsite, 9, "", "the same as a matrix; set by tb_set_constants")               \
  X(float, site_rgba, nsite, 4, "", "colour")                                                      \
  X(tbReal, site_user, nsite, nuser_site, "", "user values")                                       \
  /* cameras and lights: kept for viewers, never simulated */                                      \
  X(int, cam_bodyid, ncam, 1, "", "body")                                                          \
  X(tbReal, cam_pos, ncam, 3, "m", "position in the body")                                         \
  X(tbReal, cam_quat, ncam, 4, "", "orientation in the body, looking along -z")                    \
  X(tbReal, cam_fovy, ncam, 1, "deg", "vertical field of view")                                    \
  X(int, cam_mode, ncam, 1, "", "tbCamMode")                                                       \
  X(int, cam_targetbodyid, ncam, 1, "", "body it looks at, or -1")                                 \
  X(tbReal, cam_pos0, ncam, 3, "m", "position less the body's, at qpos0")                          \
  X(tbReal, cam_poscom0, ncam, 3, "m", "position less the tracked centre of mass, at qpos0")       \
  X(tbReal, cam_mat0, ncam, 9, "", "orientation at qpos0")                                         \
  X(int, cam_resolution, ncam, 2, "", "pixels")                                                    \
  X(tbReal, cam_sensorsize, ncam, 2, "m", "size of the sensor chip; 0: fovy is used")              \
  X(tbReal, cam_intrinsic, ncam, 4, "m", "focal lengths and principal point")                      \
  X(int, light_bodyid, nlight, 1, "", "body")                                                      \
  X(tbReal, light_pos, nlight, 3, "m", "position in the body")                                     \
  X(tbReal, light_dir, nlight, 3, "", "direction in the body")                                     \
  /* meshes, in the frame of their principal axes */                                               \
  X(int, mesh_vertadr, nmesh, 1, "", "first vertex")                                               \
  X(int, mesh_vertnum, nmesh, 1, "", "vertices")                                                   \
  X(int, mesh_faceadr, nmesh, 1, "", "first triangle")                                             \
  X(int, mesh_facenum, nmesh, 1, "", "triangles")                                                  \
  X(int, mesh_hullvertadr, nmesh, 1, "", "first hull vertex, or -1 if no geom needs the hull")     \
  X(int, mesh_hullvertnum, nmesh, 1, "", "hull vertices")                                          \
  X(int, mesh_hulladradr, nmesh, 1, "", "first entry in hull_vertadr")                             \
  X(int, mesh_hulledgeadr, nmesh, 1, "", "first entry in hull_edge")                               \
  X(int, mesh_hullfaceadr, nmesh, 1, "", "first hull face")                                        \
  X(int, mesh_hullfacenum, nmesh, 1, "", "hull faces")                                             \
  X(int, mesh_hullfaceadradr, nmesh, 1, "", "first entry in hull_faceadr")                         \
  X(int, mesh_hullpolyadr, nmesh, 1, "", "first entry in hull_poly and hull_polyadj")              \
  X(tbReal, mesh_hullcenter, nmesh, 3, "m", "a point inside the hull")                             \
  X(tbReal, mesh_hullradius, nmesh, 1, "m", "radius about it that holds every vertex")             \
  X(int, mesh_hullside, nmesh, 1, "",                                                              \
    "cells along each side of a cube's face, 0 if there are none")                                 \
  X(int, mesh_hullcelladr, nmesh, 1, "", "first entry in hull_cell")                               \
  X(int, mesh_hullguess, nmesh, TB_NGUESS, "", "hull vertices where a support search starts")      \
  X(tbReal, mesh_pos, nmesh, 3, "m", "translation subtracted from the file's vertices")            \
  X(tbReal, mesh_quat, nmesh, 4, "", "rotation applied to the file's vertices")                    \
  X(tbReal, mesh_scale, nmesh, 3, "", "scale applied to the file's vertices")                      \
  X(tbReal, mesh_vert, nmeshvert, 3, "m", "vertices")                                              \
  X(int, mesh_face, nmeshface, 3, "", "triangles, indices within the mesh")                        \
  X(tbReal, hull_vert, nhullvert, 3, "m", "hull vertices")                                         \
  X(int, hull_vertadr, nhulladr, 1, "", "per hull: where each vertex' neighbours start")           \
  X(int, hull_edge, nhulledge, 1, "", "neighbours, indices within the hull")                       \
  X(int, hull_vertface, nhullvert, 1, "", "a face at each vertex, within the hull")                \
  X(tbReal, hull_plane, nhullface, 4, "", "per face: outward unit normal n and offset, n.x = d")   \
  X(int, hull_faceadr, nhullfaceadr, 1, "", "per hull: where each face's polygon starts")          \
  X(int, hull_poly, nhullpoly, 1, "", "polygons, counter-clockwise, indices within the hull")      \
  X(int, hull_polyadj, nhullpoly, 1, "", "the face across the edge from this vertex to the next")  \
  X(uint16_t, hull_cell, nhullcell, 1, "", "candidate support vertices of each direction cell")    \
  /* height fields */                                                                              \
  X(tbReal, hfield_size, nhfield, 4, "m", "x half, y half, top, base below zero")                  \
  X(int, hfield_nrow, nhfield, 1, "", "rows")                                                      \
  X(int, hfield_ncol, nhfield, 1, "", "columns")                                                   \
  X(int, hfield_adr, nhfield, 1, "", "first sample")                                               \
  X(tbReal, hfield_data, nhfielddata, 1, "", "samples in [0, 1], rows along y, columns along x")   \
  /* explicit contact pairs and exclusions */                                                      \
  X(int, pair_dim, npair, 1, "", "contact dimension")                                              \
  X(int, pair_geom1, npair, 1, "", "geom")                                                         \
  X(int, pair_geom2, npair, 1, "", "geom")                                                         \
  X(tbReal, pair_solref, npair, TB_NREF, "", "reference")                                          \
  X(tbReal, pair_solreffriction, npair, TB_NREF, "", "reference of friction rows; 0: as solref")   \
  X(tbReal, pair_solimp, npair, TB_NIMP, "", "impedance")                                          \
  X(tbReal, pair_margin, npair, 1, "m", "the contact force acts below this distance")              \
  X(tbReal, pair_gap, npair, 1, "m", "detection distance beyond the margin; no force there")       \
  X(tbReal, pair_friction, npair, 5, "-, -, m, m, m", "two sliding, torsional, two rolling")       \
  X(tbReal, pair_restitution, npair, 1, "", "as geom_restitution; -1: from the geoms")             \
  X(tbReal, pair_compliance, npair, 1, "m/N", "as geom_compliance; -1: from the geoms")            \
  X(tbReal, pair_tangentcompliance, npair, 1, "m/N", "the same along the tangents")                \
  X(tbReal, pair_contactdamping, npair, 1, "N s/m", "as the geoms'; -1: from the geoms")           \
  X(tbReal, pair_comfree, npair, 2, "1/s, -", "comfree: k_user, d_user; -1: the options'")         \
  X(int, exclude_body1, nexclude, 1, "", "body")                                                   \
  X(int, exclude_body2, nexclude, 1, "", "body")                                                   \
  /* equality constraints */                                                                       \
  X(int, eq_type, neq, 1, "", "tbEqualityType")                                                    \
  X(int, eq_obj1id, neq, 1, "", "first body, site, joint or tendon")                               \
  X(int, eq_obj2id, neq, 1, "", "second, or -1")                                                   \
  X(int, eq_objtype, neq, 1, "", "tbObjType of the two")                                           \
  X(int, eq_active0, neq, 1, "", "1 if active at the start")                                       \
  X(tbReal, eq_solref, neq, TB_NREF, "", "reference")                                              \
  X(tbReal, eq_solimp, neq, TB_NIMP, "", "impedance")                                              \
  X(tbReal, eq_data, neq, TB_NEQDATA, "", "anchors, relative pose or polynomial")                  \
  X(tbReal, eq_hold, neq, 3, "m", "welds: from the anchor to the point that rigid laws constrain") \
  /* tendons */                                                                                    \
  X(int, tendon_adr, ntendon, 1, "", "first path element")                                         \
  X(int, tendon_num, ntendon, 1, "", "path elements")                                              \
  X(int, tendon_group, ntendon, 1, "", "group")                                                    \
  X(int, tendon_limited, ntendon, 1, "", "1 if the range is a limit")                              \
  X(int, tendon_actfrclimited, ntendon, 1, "", "1 if the total actuator force is clamped")         \
  X(tbReal, tendon_solref_lim, ntendon, TB_NREF, "", "soft limit: reference")                      \
  X(tbReal, tendon_solimp_lim, ntendon, TB_NIMP, "", "soft limit: impedance")                      \
  X(tbReal, tendon_solref_fri, ntendon, TB_NREF, "", "soft dry friction: reference")               \
  X(tbReal, tendon_solimp_fri, ntendon, TB_NIMP, "", "soft dry friction: impedance")               \
  X(tbReal, tendon_range, ntendon, 2, "m", "length limits")                                        \
  X(tbReal, tendon_actfrcrange, ntendon, 2, "N", "clamp of the total actuator force")              \
  X(tbReal, tendon_margin, ntendon, 1, "m", "distance at which a limit becomes active")            \
  X(tbReal, tendon_stiffness, ntendon, 1, "N/m", "spring")                                         \
  X(tbReal, tendon_damping, ntendon, 1, "N s/m", "damping")                                        \
  X(tbReal, tendon_armature, ntendon, 1, "kg", "inertia along the tendon")                         \
  X(tbReal, tendon_frictionloss, ntendon, 1, "N", "dry friction")                                  \
  X(tbReal, tendon_lengthspring, ntendon, 2, "m", "spring's dead band")                            \
  X(tbReal, tendon_length0, ntendon, 1, "m", "length at qpos0")                                    \
  X(tbReal, tendon_invweight0, ntendon, 1, "1/kg", "inverse weight at qpos0")                      \
  X(float, tendon_rgba, ntendon, 4, "", "colour")                                                  \
  X(tbReal, tendon_user, ntendon, nuser_tendon, "", "user values")                                 \
  X(int, tendon_Jadr, ntendon, 1, "", "first entry of its Jacobian row in ten_J and Jten_colind")  \
  X(int, tendon_Jnnz, ntendon, 1, "", "entries of its Jacobian row")                               \
  X(int, Jten_colind, nJten, 1, "", "dofs that can change each tendon's length, ascending")        \
  X(int, wrap_type, nwrap, 1, "", "tbWrapType")                                                    \
  X(int, wrap_objid, nwrap, 1, "", "joint, site or geom")                                          \
  X(tbReal, wrap_prm, nwrap, 1, "", "joint coefficient, pulley divisor, or side site id (-1)")     \
  /* actuators */                                                                                  \
  X(int, actuator_trntype, nu, 1, "", "tbTransmission")                                            \
  X(int, actuator_dyntype, nu, 1, "", "tbDynType")                                                 \
  X(int, actuator_gaintype, nu, 1, "", "tbGainType")                                               \
  X(int, actuator_biastype, nu, 1, "", "tbBiasType")                                               \
  X(int, actuator_trnid, nu, 2, "", "joint, tendon, site or body; second site or -1")              \
  X(int, actuator_actadr, nu, 1, "", "first activation state, or -1")                              \
  X(int, actuator_actnum, nu, 1, "", "activation states")                                          \
  X(int, actuator_group, nu, 1, "", "group")                                                       \
  X(int, actuator_ctrllimited, nu, 1, "", "1 if ctrl is clamped")                                  \
  X(int, actuator_forcelimited, nu, 1, "", "1 if the force is clamped")                            \
  X(int, actuator_actlimited, nu, 1, "", "1 if the activation is clamped")                         \
  X(int, actuator_actearly, nu, 1, "", "1 if force uses the next activation")                      \
  X(int, actuator_Jadr, nu, 1, "", "first entry of its row in actuator_moment and Jmom_colind")    \
  X(int, actuator_Jnnz, nu, 1, "", "entries of its row")                                           \
  X(int, Jmom_colind, nJmom, 1, "", "dofs that each actuator can push, ascending")                 \
  X(tbReal, actuator_dynprm, nu, TB_NDYN, "", "activation dynamics")                               \
  X(tbReal, actuator_gainprm, nu, TB_NGAIN, "", "gain")                                            \
  X(tbReal, actuator_biasprm, nu, TB_NBIAS, "", "bias")                                            \
  X(tbReal, actuator_ctrlrange, nu, 2, "", "clamp of ctrl")                                        \
  X(tbReal, actuator_forcerange, nu, 2, "N or N m", "clamp of the force")                          \
  X(tbReal, actuator_actrange, nu, 2, "", "clamp of the activation")                               \
  X(tbReal, actuator_gear, nu, 6, "", "scales of length and force")                                \
  X(tbReal, actuator_cranklength, nu, 1, "m", "slider-crank rod")                                  \
  X(tbReal, actuator_acc0, nu, 1, "", "acceleration from unit force at qpos0")                     \
  X(tbReal, actuator_length0, nu, 1, "", "length at qpos0")                                        \
  X(tbReal, actuator_lengthrange, nu, 2, "", "feasible lengths")                                   \
  X(tbReal, actuator_user, nu, nuser_actuator, "", "user values")                                  \
  /* sensors */                                                                                    \
  X(int, sensor_type, nsensor, 1, "", "tbSensorType")                                              \
  X(int, sensor_objtype, nsensor, 1, "", "tbObjType")                                              \
  X(int, sensor_objid, nsensor, 1, "", "object")                                                   \
  X(int, sensor_reftype, nsensor, 1, "", "tbObjType of the reference frame")                       \
  X(int, sensor_refid, nsensor, 1, "", "reference frame, or -1 for the world")                     \
  X(int, sensor_dim, nsensor, 1, "", "values")                                                     \
  X(int, sensor_adr, nsensor, 1, "", "first value in sensordata")                                  \
  X(int, sensor_intprm, nsensor, 3, "", "contact: tbContactDataBit, tbContactReduce, contacts")    \
  X(tbReal, sensor_cutoff, nsensor, 1, "", "clamp; 0: none")                                       \
  X(tbReal, sensor_noise, nsensor, 1, "", "standard deviation, for the user")                      \
  X(tbReal, sensor_user, nsensor, nuser_sensor, "", "user values")                                 \
  /* custom fields */                                                                              \
  X(int, numeric_adr, nnumeric, 1, "", "first value")                                              \
  X(int, numeric_size, nnumeric, 1, "", "values")                                                  \
  X(tbReal, numeric_data, nnumericdata, 1, "", "values")                                           \
  X(int, text_adr, ntext, 1, "", "first character")                                                \
  X(int, text_size, ntext, 1, "", "characters, the zero included")                                 \
  X(char, text_data, ntextdata, 1, "", "characters")                                               \
  X(int, tuple_adr, ntuple, 1, "", "first object")                                                 \
  X(int, tuple_size, ntuple, 1, "", "objects")                                                     \
  X(int, tuple_objtype, ntupledata, 1, "", "tbObjType")                                            \
  X(int, tuple_objid, ntupledata, 1, "", "object")                                                 \
  X(tbReal, tuple_objprm, ntupledata, 1, "", "value per object")                                   \
  /* keyframes */                                                                                  \
  X(tbReal, key_time, nkey, 1, "s", "time")                                                        \
  X(tbReal, key_qpos, nkey, nq, "", "configuration")                                               \
  X(tbReal, key_qvel, nkey, nv, "", "velocity")                                                    \
  X(tbReal, key_act, nkey, na, "", "activation")                                                   \
  X(tbReal, key_ctrl, nkey, nu, "", "control")                                                     \
  X(tbReal, key_mpos, nkey, nmocap * 3, "m", "mocap positions")                                    \
  X(tbReal, key_mquat, nkey, nmocap * 4, "", "mocap orientations")                                 \
  /* names: offsets into `names`, -1 for an unnamed object */                                      \
  X(int, name_bodyadr, nbody, 1, "", "body names")                                                 \
  X(int, name_jntadr, njnt, 1, "", "joint names")                                                  \
  X(int, name_geomadr, ngeom, 1, "", "geom names")                                                 \
  X(int, name_siteadr, nsite, 1, "", "site names")                                                 \
  X(int, name_camadr, ncam, 1, "", "camera names")                                                 \
  X(int, name_lightadr, nlight, 1, "", "light names")                                              \
  X(int, name_meshadr, nmesh, 1, "", "mesh names")                                                 \
  X(int, name_hfieldadr, nhfield, 1, "", "height field names")                                     \
  X(int, name_pairadr, npair, 1, "", "pair names")                                                 \
  X(int, name_excludeadr, nexclude, 1, "", "exclude names")                                        \
  X(int, name_eqadr, neq, 1, "", "equality names")                                                 \
  X(int, name_tendonadr, ntendon, 1, "", "tendon names")                                           \
  X(int, name_actuatoradr, nu, 1, "", "actuator names")                                            \
  X(int, name_sensoradr, nsensor, 1, "", "sensor names")                                           \
  X(int, name_numericadr, nnumeric, 1, "", "numeric names")                                        \
  X(int, name_textadr, ntext, 1, "", "text names")                                                 \
  X(int, name_tupleadr, ntuple, 1, "", "tuple names")                                              \
  X(int, name_keyadr, nkey, 1, "", "keyframe names")                                               \
  X(char, names, nnames, 1, "", "all names, each ended by a zero; the model's own name is first")  \
  X(char, notes, nnotes, 1, "", "skipped elements of the file: lines \"file:line: what\"")

#endif
