import { createHash } from 'node:crypto'
import { dropControls, lineFeeds } from './text.ts'

/**
 * The hash in a precondition: lower-case hex SHA-256 over three lines. A table cell is hashed with the id of its block.
 */
export function contextHash(blockId: string, text: string): string {
  const compared = dropControls(lineFeeds(text).normalize('NFC'))
  return createHash('sha256').update(`LFCC_SPAN_V2\nblock_id=${blockId}\ntext=${compared}`).digest('hex')
}
