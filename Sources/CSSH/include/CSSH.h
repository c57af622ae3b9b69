/* SSH client sessions on libssh2 that never block and never touch a file of their own, keys on libcrypto, and
 * the two digests that known_hosts needs. */
#ifndef HOSTS_CSSH_H
#define HOSTS_CSSH_H

#include "CSSHKey.h"
#include "CSSHSession.h"

#endif
