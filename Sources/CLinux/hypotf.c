#include <math.h>

// The Swift runtime's module for the C library refers to this function, and this program never calls it. glibc's function has the
// version 2.35. With this one the program also starts on 2.34.
float hypotf(float x, float y) {
    return isinf(x) || isinf(y) ? INFINITY : (float)sqrt((double)x * x + (double)y * y);
}
