/* The PTX of a module's image, rewritten by the library's own code. */
#ifndef GD_ATTACH_TEXT_H
#define GD_ATTACH_TEXT_H

/* The text with a wait and a trigger in each entry that has no wait and where both can be put
 * safely; to free. NULL: nothing was changed. */
char *gd_text_rewrite(const void *image);

#endif
