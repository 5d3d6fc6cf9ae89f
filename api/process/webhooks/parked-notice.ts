import { hash } from 'node:crypto'
import { idOf, KINDS_OF_RUNS, kindOf } from '../../../domain/log/owner.ts'
import { shortLine } from '../../../domain/stream/notice.ts'
import type { ParkedRow } from '../../operations/read-model.ts'
import type { Notice } from '../../operations/webhooks/notice.ts'

/**
 * The notice of a parked stream. The log has no event for it, so the id comes from the place where the stream is
 * parked. The message of the fault stays here: it can quote the log.
 */
export function parkedNotice({ stream, runId, revision, code }: ParkedRow, at: string, page: string): Notice {
  const isOfRun = KINDS_OF_RUNS.includes(kindOf(stream))
  return {
    id: `parked-${hash('sha256', `${stream} ${revision} ${code}`).slice(0, 32)}`,
    type: 'stream_parked',
    at,
    run: isOfRun ? runId : null,
    agent: isOfRun ? idOf(stream) : null,
    title: `The tables cannot read ${shortLine(stream)} from event ${revision} on (${shortLine(code)})`,
    text: '',
    link: isOfRun ? `${page}/runs/${encodeURIComponent(runId)}` : page,
  }
}
