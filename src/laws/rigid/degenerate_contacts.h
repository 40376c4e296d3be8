// Degenerate contacts: contacts without effective mass, because joints carry their impulses.
#ifndef TRIBO_LAWS_RIGID_DEGENERATE_CONTACTS_H_
#define TRIBO_LAWS_RIGID_DEGENERATE_CONTACTS_H_

#include "laws/rigid/velocity_space.h"

// Soften the degenerate contacts of solved islands; these islands become unsolved, with zero
// impulses, and *any is set.
tbResult tb_soften_degenerate_contacts(tbRigidStep* step, bool* any);

#endif
