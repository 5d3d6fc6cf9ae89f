/** The kind of a stream: its name up to the first hyphen (`agent`, `document`, `external`, `key`, `log` …). */
export const kindOf = (stream: string): string => stream.slice(0, stream.indexOf('-'))

/** The id of a stream within its kind: its name after the first hyphen. */
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1)
