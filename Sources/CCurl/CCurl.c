#include "CCurl.h"

CURLcode hosts_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

CURLcode hosts_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

CURLcode hosts_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *list) {
    return curl_easy_setopt(handle, option, list);
}

CURLcode hosts_curl_set_body(CURL *handle, const void *bytes, size_t count) {
    CURLcode result = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    if (result == CURLE_OK) result = curl_easy_setopt(handle, CURLOPT_POSTFIELDS, bytes);
    return result;
}

CURLcode hosts_curl_set_writers(CURL *handle, hosts_curl_writer head, hosts_curl_writer body, void *context) {
    CURLcode result = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    if (result == CURLE_OK) result = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    if (result == CURLE_OK) result = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, head);
    if (result == CURLE_OK) result = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    return result;
}

long hosts_curl_status(CURL *handle) {
    long status = 0;
    if (curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK) return 0;
    return status;
}

long hosts_curl_system_error(CURL *handle) {
    long error = 0;
    if (curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &error) != CURLE_OK) return 0;
    return error;
}

int hosts_curl_next_result(CURLM *stack, CURLcode *result) {
    int left = 0;
    const CURLMsg *message;
    while ((message = curl_multi_info_read(stack, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return 1;
    }
    return 0;
}
