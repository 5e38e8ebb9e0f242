#pragma once

// Everything but the optional duly/nlohmann.h.
#include "duly/admin.h"
#include "duly/client.h"
#include "duly/connection.h"
#include "duly/error.h"
#include "duly/import.h"
#include "duly/job.h"
#include "duly/typed.h"
#include "duly/types.h"
#include "duly/version.h"
#include "duly/worker.h"
