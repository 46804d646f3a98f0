/* Addresses of other CTAs of the cluster, and its barrier. */
#include "emulator/decode/decode.h"
#include "emulator/execute/distributed.h"

/* mapa{.shared::cluster} d, a, rank: of a shared address or a generic one, which differ in a part
 * that the rank is not in. */
bool gd_decode_mapa(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    gd_slot d, a, rank;

    gd_space_at(decoder, 0);
    if (!gd_source(decoder, decoder->operands[1], type, &a) ||
        !gd_source(decoder, decoder->operands[2], GD_TYPE_U32, &rank) ||
        !gd_target(decoder, decoder->operands[0], type, &d))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_mapa);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->b = rank;
    code->bytes = (uint8_t)gd_bytes_of(type);
    return true;
}

bool gd_decode_getctarank(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    gd_slot d, a;

    gd_space_at(decoder, 0);
    if (!gd_source(decoder, decoder->operands[1], type, &a) ||
        !gd_target(decoder, decoder->operands[0], GD_TYPE_U32, &d))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_ctarank);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->bytes = (uint8_t)gd_bytes_of(type);
    return true;
}

bool gd_decode_cluster_barrier(gd_decoder *decoder)
{
    bool wait = decoder->instruction->op == GD_OP_BARRIER_CLUSTER_WAIT;

    bool relaxed =
        gd_has(decoder,
               GD_MODIFIER_RELAXED); /* release, acquire where nothing is said (PTX ISA 9.7.13.4) */
    gd_ignore_order(decoder);
    gd_code *code = gd_emit(decoder, wait ? gd_run_cluster_wait : gd_run_cluster_arrive);
    if (code)
        code->order = relaxed ? 0 : GD_ORDER_ACQUIRE | GD_ORDER_RELEASE;
    return code;
}
