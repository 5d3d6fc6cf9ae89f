/** Whether a name can be stored, and shown on one line: it has no control characters and no lone surrogates. */
export const isPlain = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text)

export const PLAIN = 'expected text without control characters'
