import { defineKind } from '../stream/define-kind.ts'
import { StreamError } from '../stream/errors.ts'
import { type AnchorKind, type ORIGIN_REASONS, proofBodies, type TreeHead } from './events.ts'
import {
  decideWitnessCommand,
  evolveWitness,
  isWitnessCommand,
  isWitnessEvent,
  NO_WITNESS,
  type WitnessCommand,
  type WitnessState,
} from './witness.ts'

/** The id of the stream about the log itself: `proof-log`. The other stream of this kind is `proof-witness`. */
export const PROOF_ID = 'log'
export const PROOF_STREAM = `proof-${PROOF_ID}`

export interface Anchor {
  readonly kind: AnchorKind
  readonly target: string
  readonly vkey?: string | undefined
}

/** A name of the tree, with all keys that have signed its heads. */
export interface Origin {
  readonly origin: string
  readonly vkeys: readonly string[]
}

export interface ProofState {
  /** The first origin comes first, the current one last. */
  readonly origins: readonly Origin[]
  /** The number of origins that began after an accepted loss. */
  readonly losses: number
  /** The anchors in use, by id. */
  readonly anchors: Readonly<Record<string, Anchor>>
  /** How often each id was given to an anchor. It tells an anchor from an earlier one with the same id. */
  readonly additions: Readonly<Record<string, number>>
  /** The last anchored head of each anchor. */
  readonly anchored: Readonly<Record<string, TreeHead>>
  /** Only in `proof-witness`. */
  readonly witness?: WitnessState
}

const NOTHING: ProofState = { origins: [], losses: 0, anchors: {}, additions: {}, anchored: {} }

export type ProofCommand =
  /** `current`: the last origin that the caller knows; null: none. */
  | {
      readonly kind: 'begin'
      readonly current: string | null
      readonly origin: string
      readonly vkey: string
      readonly reason: (typeof ORIGIN_REASONS)[number]
      readonly after: TreeHead | null
    }
  /** `note`: the new key, signed with the key `old`. */
  | { readonly kind: 'rotate'; readonly old: string; readonly vkey: string; readonly note: string }
  | ({ readonly kind: 'add'; readonly anchor: string } & { readonly as: Anchor })
  | { readonly kind: 'remove'; readonly anchor: string }
  | {
      readonly kind: 'record'
      readonly anchor: string
      /** The addition of the anchor that keeps the head: its number in the state that the caller knew. */
      readonly addition: number
      readonly head: TreeHead
      readonly checkpoint: string
      readonly receipt: string | null
    }
  | WitnessCommand

/** The keys of the log's tree, the anchors of its heads, and the witness of other logs, as one kind of stream. */
export const proof = defineKind<ProofState, typeof proofBodies, ProofCommand>({
  kind: 'proof',
  noun: 'proof',
  fold: 2,
  bodies: proofBodies,
  evolve(state, event) {
    if (isWitnessEvent(event))
      return { ...(state ?? NOTHING), witness: evolveWitness(state?.witness ?? NO_WITNESS, event) }
    const { type, body } = event
    if (type === 'log_key_created') {
      const before = state ?? NOTHING
      const origins = [...before.origins, { origin: body.origin, vkeys: [body.vkey] }]
      return { ...before, origins, losses: before.losses + (body.reason === 'loss' ? 1 : 0) }
    }
    if (state === null) throw new Error(`${type} before log_key_created`)
    switch (type) {
      case 'log_key_rotated': {
        const { origin, vkeys } = currentOrigin(state)
        if (body.origin !== origin) throw new Error(`${type} of ${body.origin}, which is not the current origin`)
        return { ...state, origins: [...state.origins.slice(0, -1), { origin, vkeys: [...vkeys, body.vkey] }] }
      }
      case 'anchor_added': {
        const { anchor, ...as } = body
        const additions = { ...state.additions, [anchor]: (state.additions[anchor] ?? 0) + 1 }
        return { ...state, anchors: { ...state.anchors, [anchor]: as }, additions }
      }
      case 'anchor_removed': {
        const { [body.anchor]: _, ...anchors } = state.anchors
        return { ...state, anchors }
      }
      case 'anchor_made': {
        const { anchor, origin, size, root } = body
        return { ...state, anchored: { ...state.anchored, [anchor]: { origin, size, root } } }
      }
    }
  },
  decide(state, command, emit) {
    if (isWitnessCommand(command)) return decideWitnessCommand(state?.witness ?? NO_WITNESS, command, emit)
    if (command.kind === 'begin') {
      const { current, origin, vkey, reason, after } = command
      const { origins } = state ?? NOTHING
      if ((origins.at(-1)?.origin ?? null) !== current)
        throw new StreamError('ORIGIN_EXISTS', 'another origin of the log began at the same moment; try again')
      if (origins.some((one) => one.origin === origin))
        throw new StreamError('ORIGIN_EXISTS', `${origin} was an origin of this log before; name another one`)
      return emit('log_key_created', { origin, vkey, reason, after })
    }
    if (state === null)
      throw new StreamError('NOT_SIGNED', 'the log has no key yet; start keepup with it once', { why: 'absent' })
    switch (command.kind) {
      case 'rotate': {
        const { origin, vkeys } = currentOrigin(state)
        if (vkeys.includes(command.vkey)) return
        if (vkeys.at(-1) !== command.old)
          throw new StreamError('KEY_CHANGED', 'the key was replaced at the same moment; try again')
        return emit('log_key_rotated', { origin, vkey: command.vkey, note: command.note })
      }
      case 'add': {
        const { anchor, as } = command
        const known = state.anchors[anchor]
        if (known !== undefined)
          throw new StreamError(
            'ANCHOR_EXISTS',
            `the anchor ${anchor} exists (${known.kind} ${known.target}); use another name`,
          )
        const own = Object.entries(state.anchors).find(([, { vkey }]) => vkey !== undefined && vkey === as.vkey)
        if (own !== undefined)
          throw new StreamError(
            'ANCHOR_EXISTS',
            `the anchor ${own[0]} has this key already; remove it first, or name another witness`,
          )
        return emit('anchor_added', { anchor, ...as })
      }
      case 'remove':
        if (state.anchors[command.anchor] !== undefined) emit('anchor_removed', { anchor: command.anchor })
        else throw unknownAnchor(command.anchor)
        return
      case 'record': {
        const { anchor, addition, head, checkpoint, receipt } = command
        const { kind, target } = state.anchors[anchor] ?? {}
        if (kind === undefined || target === undefined) throw unknownAnchor(anchor)
        if (state.additions[anchor] !== addition)
          throw new StreamError(
            'ANCHOR_CHANGED',
            `the anchor ${anchor} was removed and added again while it got the head; anchor the log once more`,
          )
        return emit('anchor_made', { anchor, kind, target, ...head, checkpoint, receipt })
      }
    }
  },
  residues: {},
})

export const currentOrigin = ({ origins }: ProofState): Origin => origins[origins.length - 1]!

const unknownAnchor = (anchor: string) =>
  new StreamError('ANCHOR_UNKNOWN', `there is no anchor ${anchor}; list the anchors to find it`, { why: 'absent' })
