/* The limits of the checks. Beyond them nothing is looked into and nothing is called safe; a
 * finding (GD003) names the limit. */
#ifndef GD_PTX_CHECK_LIMIT_H
#define GD_PTX_CHECK_LIMIT_H

enum {
    GD_CHECK_LIMIT_CALL_DEPTH = 64, /* calls within calls that are followed */
    GD_CHECK_LIMIT_CONTEXTS =
        4096, /* functions times different arguments that one entry is followed into */
    GD_CHECK_LIMIT_VISITS_PER_INSTRUCTION =
        64, /* together with the next one bounds a module's check: instructions that */
    GD_CHECK_LIMIT_VISITS = 1 << 24, /* are looked at, counted with repetition */
    GD_CHECK_LIMIT_MISTAKES = 1000,  /* that are told of one text that ptxas refuses */
    GD_CHECK_LIMIT_PARAMETERS = 512, /* of one entry that are told apart */
    GD_CHECK_LIMIT_ROUNDS = 16       /* of finding out which barriers order */
};

#endif
