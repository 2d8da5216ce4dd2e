/* Reading JSON without building anything: a value is a pointer to its first character.
   The text must be valid JSON, as the arena's lines are. NULL stands for what is not there; every function takes it. */

#include <stdlib.h>
#include <string.h>

static inline const char *json_space(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
    return at;
}

/* The end of a string: behind its second quotation mark. */
static inline const char *json_string_end(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* The end of a value: the character behind it. */
static inline const char *json_end(const char *value) {
    int depth = 0;
    do {
        if (*value == '"') {
            value = json_string_end(value);
        } else if (*value == '{' || *value == '[') {
            depth++;
            value++;
        } else if (*value == '}' || *value == ']') {
            depth--;
            value++;
        } else if (depth > 0) {
            value++;
        } else {
            while (*value && !strchr(",]} \t\r\n", *value)) value++;
        }
    } while (*value && depth > 0);
    return value;
}

/* The first item of a list (of an object: its first key); NULL if it is empty, or neither. */
static inline const char *json_first(const char *list) {
    if (!list || (*list != '[' && *list != '{')) return NULL;
    list = json_space(list + 1);
    return *list == ']' || *list == '}' || !*list ? NULL : list;
}

/* The item after this one; NULL after the last. */
static inline const char *json_next(const char *item) {
    if (!item) return NULL;
    item = json_space(json_end(item));
    return *item == ',' ? json_space(item + 1) : NULL;
}

/* The item of a list at a place, counted from 0. */
static inline const char *json_at(const char *list, int place) {
    const char *item = json_first(list);
    while (item && place-- > 0) item = json_next(item);
    return item;
}

/* Whether a value is this text. Escapes are not read: the arena writes none in words of the protocol. */
static inline int json_is(const char *value, const char *text) {
    size_t length = strlen(text);
    return value && *value == '"' && strncmp(value + 1, text, length) == 0 && value[length + 1] == '"';
}

/* What an object holds under a key. */
static inline const char *json_get(const char *object, const char *key) {
    if (!object || *object != '{') return NULL;
    for (const char *name = json_first(object); name; name = json_next(name)) {
        const char *value = json_space(json_space(json_string_end(name)) + 1); /* behind the colon */
        if (json_is(name, key)) return value;
        name = value;
    }
    return NULL;
}

/* A whole number; true counts as 1, all else that is no number as 0. */
static inline long long json_int(const char *value) {
    if (!value) return 0;
    return *value == 't' ? 1 : strtoll(value, NULL, 10);
}
