# PTX as text: parsed, checked, rewritten. No driver is needed.
libgriddep_front_la_SOURCES += \
	%D%/check/access.c %D%/check/access.h \
	%D%/check/call.c \
	%D%/check/chain.c %D%/check/chain.h \
	%D%/check/chain_hazard.c \
	%D%/check/chain_hop.c \
	%D%/check/chain_lane.c \
	%D%/check/launches.h \
	%D%/check/check.c %D%/check/check.h \
	%D%/check/constant.c %D%/check/constant.h \
	%D%/check/declaration.c %D%/check/declaration.h \
	%D%/check/directive.c \
	%D%/check/entry.c %D%/check/entry.h \
	%D%/check/function.c %D%/check/function.h \
	%D%/check/hop.c \
	%D%/check/initial.c \
	%D%/check/instruction.c \
	%D%/check/limit.h \
	%D%/check/refuse.c \
	%D%/check/rules.c %D%/check/rules.h \
	%D%/check/shared.c \
	%D%/check/signature.c \
	%D%/check/state.h \
	%D%/check/trigger.c \
	%D%/check/meant.c %D%/check/verdict.c %D%/check/verdict.h %D%/check/validity.c %D%/check/validity.h \
	%D%/check/walk.c %D%/check/walk.h \
	%D%/flow/early.c %D%/flow/early.h \
	%D%/flow/flow.c %D%/flow/flow.h \
	%D%/flow/lane.c %D%/flow/lane.h \
	%D%/flow/loop.c \
	%D%/flow/origin_set.c %D%/flow/origin_set.h \
	%D%/flow/provenance.c %D%/flow/provenance.h \
	%D%/flow/traits.c %D%/flow/traits.h \
	%D%/flow/tree.c %D%/flow/tree.h \
	%D%/flow/web.c %D%/flow/web.h \
	%D%/handle/ptx.c %D%/handle/ptx.h \
	%D%/handle/requirement.c %D%/handle/requirement.h \
	%D%/handle/shape_check.c %D%/handle/shape_check.h \
	%D%/isa/chips.def \
	%D%/isa/fault.c %D%/isa/fault.h \
	%D%/isa/form.c %D%/isa/form.h \
	%D%/isa/forms.def \
	%D%/isa/need.c %D%/isa/need.h %D%/isa/needs.def \
	%D%/isa/operand.c %D%/isa/operand.h \
	%D%/isa/role.c %D%/isa/role.h \
	%D%/isa/special.c %D%/isa/special.def %D%/isa/special.h \
	%D%/isa/spelling.c %D%/isa/spelling.h \
	%D%/isa/video.c %D%/isa/video.h \
	%D%/require/evaluate.c \
	%D%/require/head.c %D%/require/head.h \
	%D%/require/lost_field.c %D%/require/lost_field.h \
	%D%/require/map.c %D%/require/map.h \
	%D%/require/parse.c %D%/require/parse.h \
	%D%/require/require.c %D%/require/require.h \
	%D%/require/tensor_map.c %D%/require/tensor_map.h \
	%D%/rewrite/again.c \
	%D%/rewrite/keep.c %D%/rewrite/keep.h \
	%D%/rewrite/old.c %D%/rewrite/old.h \
	%D%/rewrite/place.c %D%/rewrite/place.h \
	%D%/rewrite/prefetch.c %D%/rewrite/prefetch.h \
	%D%/rewrite/rewrite.c %D%/rewrite/rewrite.h \
	%D%/rewrite/round.c %D%/rewrite/round.h \
	%D%/rewrite/step.c \
	%D%/text/array.c %D%/text/array.h \
	%D%/text/codes.c %D%/text/codes.def \
	%D%/text/constant.c %D%/text/constant.h \
	%D%/text/diagnostic.c %D%/text/diagnostic.h \
	%D%/text/edit.c %D%/text/edit.h \
	%D%/text/findings.c %D%/text/findings.h %D%/text/offered.h \
	%D%/text/source.c %D%/text/source.h \
	%D%/text/keywords.def \
	%D%/text/lexer.c %D%/text/lexer.h \
	%D%/text/limit.h \
	%D%/text/module.c %D%/text/module.h %D%/text/open.c %D%/text/open.h \
	%D%/text/name.c %D%/text/name.h \
	%D%/text/ops.c %D%/text/ops.def %D%/text/ops.h \
	%D%/text/parse.h \
	%D%/text/parse_body.c \
	%D%/text/parse_declaration.c \
	%D%/text/parse_operand.c \
	%D%/text/parse_state.c \
	%D%/text/parser.c %D%/text/parser.h \
	%D%/text/types.def \
	%D%/text/word.c %D%/text/word.h
