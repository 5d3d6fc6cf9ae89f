import { base64, hashFromBase64 } from '../log/proof/encoding.ts'
import { ED25519, parseVkey } from '../log/proof/note.ts'
import { decideWitness, type WitnessRefusal, type WitnessRequest } from '../log/proof/witness.ts'
import type { Emit } from '../stream/emitter.ts'
import { StreamError } from '../stream/errors.ts'
import type { ProofEvent, proofBodies } from './events.ts'

/** The id of the stream of the witness: `proof-witness`. */
export const WITNESS_ID = 'witness'

/** A checkpoint that the witness cosigned. `at`: ms since the epoch. */
export interface CosignedCheckpoint {
  readonly size: number
  readonly root: string
  readonly checkpoint: string
  readonly at: number
}

/** A log that the witness knows. `vkeys` empty: removed. `last` stays for ever: the witness must not forget it. */
export interface KnownLog {
  readonly vkeys: readonly string[]
  readonly last: CosignedCheckpoint | null
}

export interface WitnessState {
  /** The key that cosigns; null: none yet. */
  readonly vkey: string | null
  /** The accepted losses of this log until the key began. A later loss can have cut the memory of the witness. */
  readonly losses: number
  /** By origin. */
  readonly logs: Readonly<Record<string, KnownLog>>
}

export const NO_WITNESS: WitnessState = { vkey: null, losses: 0, logs: {} }

export type WitnessCommand =
  | { readonly kind: 'begin_witness'; readonly vkey: string; readonly losses: number }
  | { readonly kind: 'witness'; readonly vkey: string }
  | { readonly kind: 'unwitness'; readonly origin: string }
  /** `losses`: the accepted losses of this log. */
  | {
      readonly kind: 'cosign'
      readonly request: WitnessRequest & { readonly log: string }
      readonly losses: number
    }

const COMMANDS: ReadonlySet<string> = new Set<WitnessCommand['kind']>([
  'begin_witness',
  'witness',
  'unwitness',
  'cosign',
])
export const isWitnessCommand = (command: { readonly kind: string }): command is WitnessCommand =>
  COMMANDS.has(command.kind)

/** The witness does not cosign a checkpoint. */
export class NotCosigned extends Error {
  readonly refusal: WitnessRefusal
  constructor(refusal: WitnessRefusal) {
    super(`the witness answers ${refusal.status}`)
    this.refusal = refusal
  }
}

const knownOf = ({ logs }: WitnessState, origin: string): KnownLog | null =>
  Object.hasOwn(logs, origin) ? logs[origin]! : null

const WITNESS_EVENTS = [
  'witness_key_created',
  'witness_log_added',
  'witness_log_removed',
  'checkpoint_cosigned',
] as const
export type WitnessEvent = Extract<ProofEvent, { readonly type: (typeof WITNESS_EVENTS)[number] }>

export const isWitnessEvent = (event: { readonly type: string }): event is WitnessEvent =>
  WITNESS_EVENTS.some((type) => type === event.type)

/** The state of the witness after one of its events. */
export function evolveWitness(state: WitnessState, { type, body, at }: WitnessEvent): WitnessState {
  if (type === 'witness_key_created') return { ...state, vkey: body.vkey, losses: body.losses }
  const { vkeys, last } = knownOf(state, body.origin) ?? { vkeys: [], last: null }
  const known = (log: KnownLog) => ({ ...state, logs: { ...state.logs, [body.origin]: log } })
  switch (type) {
    case 'witness_log_added':
      return known({ vkeys: [...vkeys, body.vkey], last })
    case 'witness_log_removed':
      return known({ vkeys: [], last })
    case 'checkpoint_cosigned': {
      const { size, root, checkpoint } = body
      return known({ vkeys, last: { size, root, checkpoint, at } })
    }
  }
}

export function decideWitnessCommand(
  state: WitnessState,
  command: WitnessCommand,
  emit: Emit<typeof proofBodies>,
): void {
  switch (command.kind) {
    case 'begin_witness': {
      const { vkey, losses } = command
      return emit('witness_key_created', { vkey, losses })
    }
    case 'witness': {
      const { vkey } = command
      const { name: origin, type } = parseVkey(vkey)
      if (type !== ED25519)
        throw new StreamError('KEY_TYPE', `the key of ${origin} has type ${type}; name a key that signs heads (1)`, {
          why: 'invalid',
        })
      if (knownOf(state, origin)?.vkeys.includes(vkey) !== true) emit('witness_log_added', { origin, vkey })
      return
    }
    case 'unwitness': {
      const { origin } = command
      if ((knownOf(state, origin)?.vkeys ?? []).length > 0) return emit('witness_log_removed', { origin })
      throw new StreamError('LOG_UNKNOWN', `this witness knows no log ${origin}; list the logs to find it`, {
        why: 'absent',
      })
    }
    case 'cosign': {
      const { request, losses } = command
      if (losses !== state.losses) throw lostMemory()
      const known = knownOf(state, request.log)
      const decision = decideWitness(request, witnessed(known))
      if (decision.status !== 200) throw new NotCosigned(decision)
      const { origin, size, root } = decision.checkpoint
      // A repeated request is answered with a new cosignature of the same checkpoint.
      if (known?.last?.size === size) return
      return emit('checkpoint_cosigned', { origin, size, root: base64(root), checkpoint: decision.note })
    }
  }
}

function witnessed(known: KnownLog | null) {
  if (known === null || known.vkeys.length === 0) return null
  const { vkeys, last } = known
  const { size, root } = last ?? {}
  return {
    keys: vkeys.map(parseVkey),
    last: size === undefined || root === undefined ? null : { size, root: hashFromBase64(root) },
  }
}

const lostMemory = () =>
  new StreamError(
    'WITNESS_KEY_OLD',
    'a part of this log was lost since the key of the witness began, perhaps with checkpoints that it cosigned; make a ' +
      'new key (keepup witness key) and give it to the logs',
  )
