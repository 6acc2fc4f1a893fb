#pragma once
#include "accounts.h"
#include "children.h"
#include "events.h"
#include "paths.h"
#include "peers.h"
#include "program.h"
#include "termination_timeouts.h"
