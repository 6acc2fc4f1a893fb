#pragma once
#include <curl/curl.h>

/* Variadic functions do not import into Swift: one function for each type of argument. */

static inline CURLcode shim_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

/* Options that take a text, which libcurl copies; NULL sets the option back to nothing. */
static inline CURLcode shim_setopt_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

/* Options that take memory, which has to stay valid for as long as the handle uses it. */
static inline CURLcode shim_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

/* CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION. */
typedef size_t (*shim_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode shim_setopt_receiver(CURL *handle, CURLoption option, shim_receiver value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode shim_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

/* A time in microseconds or a size. */
static inline CURLcode shim_getinfo_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

/* A macro, which does not import. */
static inline CURLcode shim_global_init(void) {
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* The schemes that may be spoken, as CURLPROTO_ flags. The option that replaced this one needs libcurl 7.85; RHEL 9 has 7.76. */
static inline CURLcode shim_set_protocols(CURL *handle, long protocols) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, protocols);
#pragma GCC diagnostic pop
}
