// Contacts whose impulses joints take up.
#ifndef TRIBO_LAWS_RIGID_DEGENERATE_CONTACTS_H_
#define TRIBO_LAWS_RIGID_DEGENERATE_CONTACTS_H_

#include "laws/rigid/velocity_space.h"

// Soften contacts of solved islands that jam; such islands are unsolved then, from no impulses on,
// and *any is set.
tbResult tb_soften_degenerate_contacts(tbRigidStep* step, bool* any);

#endif
