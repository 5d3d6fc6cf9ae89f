import { callWithoutText } from '../calls/call.ts'
import { NO_OBLIGATIONS } from '../courier/ledger.ts'
import { EMPTY_ROOT } from '../log/root.ts'
import { StateDigest } from '../stream/state-digest.ts'
import { type ExternalState, NO_PERMISSIONS } from './state.ts'

// The digest is part of the storage format. A change of the view below requires a higher FOLD.

/** Version of the fold and of the view that digests cover. */
export const EXTERNAL_FOLD = 2

/** Whether a digest covers a member. The hash of the recorded body represents the request and the continued run. */
const COVERED: { readonly [K in keyof Required<ExternalState>]: boolean } = {
  agentId: true,
  runId: true,
  at: true,
  backend: true,
  request: false,
  requestHash: true,
  commands: true,
  driver: true,
  stage: true,
  cancelledAt: true,
  events: true,
  sessionId: true,
  usage: true,
  permissions: true,
  tools: true,
  reported: true,
  hosted: true,
  continues: false,
  reportsTo: true,
  gates: true,
  courier: true,
}

const digests = new StateDigest<ExternalState>({
  members: (Object.keys(COVERED) as (keyof ExternalState)[]).filter((name) => COVERED[name]),
  initial: {
    driver: null,
    cancelledAt: null,
    events: EMPTY_ROOT,
    sessionId: null,
    usage: null,
    permissions: NO_PERMISSIONS,
    reportsTo: null,
    gates: [],
    courier: NO_OBLIGATIONS,
  },
  // The hash of the recorded body represents the tools; the root of the batches represents the reported spans.
  shown: {
    tools: ({ asked, step, open }) => ({ asked, step, open: open.map(callWithoutText) }),
    reported: (reported) => ({ ...reported, spans: reported.count }),
  },
})

/** A session that a span named: an erasure removes it, and the root of the batches represents it. */
const withoutReportedSession = (state: ExternalState): ExternalState =>
  state.reported === undefined ? state : { ...state, sessionId: null }

/** The digest of a folded state, hex SHA-256. */
export const externalDigest = (state: ExternalState): string =>
  digests.byHashes(withoutReportedSession(state), `keepup-external-fold-${EXTERNAL_FOLD}`)

/** The digest under an earlier fold; null: unknown. Fold 1 covered the texts of all members. */
export const earlierExternalDigest = (fold: number, state: ExternalState): string | null =>
  fold === 1 ? digests.byTexts(withoutReportedSession(state), 'keepup-external-fold-1') : null
