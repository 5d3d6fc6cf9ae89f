/** Whether a name can be stored, and shown on a line: neither control characters nor half of a surrogate pair. */
export const isPlain = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text)

export const PLAIN = 'expected text without control characters'
