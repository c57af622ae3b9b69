/* What Swift cannot import from Linux and glibc. */
#ifndef HOSTS_CLINUX_H
#define HOSTS_CLINUX_H

#include "CLinuxClocks.h"
#include "CLinuxEvents.h"
#include "CLinuxRoutes.h"
#include "CLinuxSignals.h"
#include "CLinuxSpawn.h"

#endif
