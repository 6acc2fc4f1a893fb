#include <math.h>

// The Swift runtime's module for the C library refers to this function, and this program never calls it. glibc's own has the
// version 2.35: with this one the program starts on 2.34 too.
float hypotf(float x, float y) {
    return isinf(x) || isinf(y) ? INFINITY : (float)sqrt((double)x * x + (double)y * y);
}
