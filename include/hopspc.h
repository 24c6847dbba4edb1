/* All preconditioners: for codes that include it by this name. */
#pragma once
#include <hopslor.h>
#include <hopspatch.h>
#include <hopsmg.h>
#include <hopsbox.h>
