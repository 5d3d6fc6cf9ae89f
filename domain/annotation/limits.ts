/** The longest tag and the longest note, in characters. */
export const TAG_LENGTH = 64
export const NOTE_LENGTH = 10_000
/** The most tags and notes with a text that a run has at a time. */
export const MOST_TAGS = 100
export const MOST_NOTES = 1_000

/** The stream of a run's tags and notes, without the namespace. */
export const annotationStream = (runId: string): string => `annotation-${runId}`
