/** CRLF and CR as LF. */
export const lineFeeds = (text: string): string => text.replaceAll(/\r\n?/g, '\n')

/** Drops control characters but TAB and LF. */
export const dropControls = (text: string): string => text.replaceAll(/(?![\t\n])\p{Cc}/gu, '')
