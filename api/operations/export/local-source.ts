import { checkedCursor } from '../events/filter.ts'
import type { Services } from '../services.ts'
import { eventLines } from './event-lines.ts'
import type { ExportSource } from './export-thread.ts'
import { tableLines } from './table-lines.ts'

/** The lines of an export from the services of this process. */
export const localSource = (s: Pick<Services, 'log' | 'blobs' | 'read'>): ExportSource =>
  async function* (asked) {
    if (asked.of === 'tables') yield* tableLines(s)
    else yield* eventLines(s, await checkedCursor(s.log, asked.after ?? undefined), asked.last ?? undefined)
  }
