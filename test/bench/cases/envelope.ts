import type { Bench, Case } from '../bench.ts'
import { wholeGateway } from '../documents/gateway.ts'
import { grow } from '../documents/history.ts'

// An envelope in a document of few edits, whole and with its log; `npm run bench:documents` looks closer.

const EDITS = 100

export const envelope: Case = {
  name: 'envelope',
  async run(_: Bench) {
    const { doc, updates } = grow(EDITS)
    const snapshot = doc.export({ mode: 'snapshot' })
    doc.free()
    return wholeGateway(EDITS, snapshot, updates)
  },
}
