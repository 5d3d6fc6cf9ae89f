export const TEXT_KINDS = ['input', 'answer', 'arguments', 'output', 'message', 'end', 'span'] as const
/** The kind of a text of an event, in `run_texts`. */
export type TextKind = (typeof TEXT_KINDS)[number]
