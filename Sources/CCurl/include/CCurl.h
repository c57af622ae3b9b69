/* libcurl's options and infos are variadic and therefore not importable: one typed setter or getter for each kind. */
#ifndef HOSTS_CCURL_H
#define HOSTS_CCURL_H

#include <curl/curl.h>
#include <stddef.h>

/* Receives a piece of the body or one line of the head; answers how many bytes it took, anything else ends the
 * transfer. */
typedef size_t (*hosts_curl_writer)(char *bytes, size_t size, size_t count, void *context);

CURLcode hosts_curl_set_number(CURL *handle, CURLoption option, long value);
/* libcurl copies the text. */
CURLcode hosts_curl_set_text(CURL *handle, CURLoption option, const char *value);
/* libcurl keeps the list until the next transfer has ended. */
CURLcode hosts_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *list);
/* libcurl reads the bytes where they are until the transfer has ended. */
CURLcode hosts_curl_set_body(CURL *handle, const void *bytes, size_t count);
CURLcode hosts_curl_set_writers(CURL *handle, hosts_curl_writer head, hosts_curl_writer body, void *context);

/* The HTTP status of the answer, 0 before there is one. */
long hosts_curl_status(CURL *handle);
/* errno of the connect that failed, 0 if none did. */
long hosts_curl_system_error(CURL *handle);

/* Whether a transfer of the stack has ended, and how (the result is a member of a union). */
int hosts_curl_next_result(CURLM *stack, CURLcode *result);

#endif
