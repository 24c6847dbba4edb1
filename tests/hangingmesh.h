/* The adaptive meshes of the tutorial, for tests */
#pragma once
#include "hopstest.h"
#include "../tutorials/octree.h"
