/** Converts CRLF and CR to LF. */
export const lineFeeds = (text: string): string => text.replaceAll(/\r\n?/g, '\n')

/** Drops control characters except TAB and LF. */
export const dropControls = (text: string): string => text.replaceAll(/[^\P{Cc}\t\n]/gu, '')
