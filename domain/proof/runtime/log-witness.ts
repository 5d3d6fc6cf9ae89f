import type { Actor } from '../../log/envelope.ts'
import { hex, sha256 } from '../../log/ids.ts'
import {
  COSIGNATURE,
  formatNote,
  formatVkey,
  type NoteSigner,
  noteSigner,
  signatureLine,
  splitNote,
} from '../../log/proof/note.ts'
import { ProofError } from '../../log/proof/proof-error.ts'
import {
  cosignatureAnswer,
  parseWitnessRequest,
  refusalAnswer,
  type WitnessAnswer,
  type WitnessRequest,
} from '../../log/proof/witness.ts'
import type { Clock, Random } from '../../ports/index.ts'
import type { SigningKeys } from '../../ports/proof.ts'
import type { CausedContext } from '../../stream/emitter.ts'
import { StreamError } from '../../stream/errors.ts'
import { Mutex } from '../../stream/runtime/concurrency.ts'
import type { Asker } from '../../stream/runtime/erasure/types.ts'
import type { Mailbox, Submitted } from '../../stream/runtime/mailbox.ts'
import type { ProofEvent } from '../events.ts'
import type { ProofCommand, ProofState } from '../kind.ts'
import { NO_WITNESS, NotCosigned, type WitnessState } from '../witness.ts'

export interface LogWitnessPorts {
  /** Of the stream `proof-witness`. */
  readonly mailbox: Mailbox<ProofState, ProofEvent, ProofCommand, CausedContext>
  readonly keys: SigningKeys
  readonly clock: Clock
  readonly random: Random
  /** The name of the witness's key. */
  readonly name: string
  /** The number of losses of this log that people have accepted. */
  readonly acceptedLosses: () => Promise<number>
}

const seconds = (ms: number): number => Math.floor(ms / 1000)

const SYSTEM: Actor = { kind: 'system', id: 'witness' }

/**
 * Cosigns checkpoints of other logs (https://c2sp.org/tlog-witness). Two checkpoints of one origin that one key cosigned
 * are always consistent: the log records a checkpoint before the witness signs it, at the revision at which the witness
 * decided, and every process of the log decides by these records.
 */
export class LogWitness {
  readonly #ports: LogWitnessPorts
  readonly #making = new Mutex()

  constructor(ports: LogWitnessPorts) {
    this.#ports = ports
  }

  async state(): Promise<WitnessState> {
    const { mailbox } = this.#ports
    await mailbox.refresh()
    return mailbox.state?.witness ?? NO_WITNESS
  }

  /** The verifier key. Makes a key first if there is none, if its secret is not here, or after an accepted loss. */
  key(by: Actor): Promise<string> {
    return this.#making.run(async () => {
      const { keys, random, name, acceptedLosses } = this.#ports
      const losses = await acceptedLosses()
      const state = await this.state()
      const known = state.losses === losses ? await this.#signer(state) : null
      if (known !== null) return formatVkey(known.key)
      const made = noteSigner(name, random.bytes(32), COSIGNATURE)
      await keys.add(made)
      const vkey = formatVkey(made.key)
      await this.#submit({ kind: 'begin_witness', vkey, losses }, { by, commandId: `witness:${made.key.id}` })
      return vkey
    })
  }

  /** Cosigns checkpoints of the log with this key from now on. */
  async add(vkey: string, asker: Asker): Promise<Submitted> {
    await this.key(asker.by)
    return this.#submit({ kind: 'witness', vkey }, asker)
  }

  /** Cosigns no more checkpoints of a log. The witness still remembers the last one. */
  remove(origin: string, asker: Asker): Promise<Submitted> {
    return this.#submit({ kind: 'unwitness', origin }, asker)
  }

  /** Answers `POST add-checkpoint`. Rejects if the witness cannot cosign at all. */
  async addCheckpoint(body: string): Promise<WitnessAnswer> {
    const { mailbox, clock, random, acceptedLosses } = this.#ports
    let request: WitnessRequest & { readonly log: string }
    try {
      request = parseWitnessRequest(body)
    } catch (error) {
      if (error instanceof ProofError) return refusalAnswer({ status: 400, reason: error.message })
      throw error
    }
    const commandId = `cosign:${hex(random.bytes(16))}`
    try {
      await mailbox.refresh()
      const losses = await acceptedLosses()
      await this.#submit({ kind: 'cosign', request, losses }, { by: SYSTEM, commandId })
    } catch (error) {
      if (error instanceof NotCosigned) return refusalAnswer(error.refusal)
      throw error
    }
    // A key that began after the decision cosigned nothing that the records up to here do not have.
    const signer = await this.#mustSign(mailbox.state?.witness ?? NO_WITNESS)
    return cosignatureAnswer(signer, splitNote(request.checkpoint).text, seconds(clock.now()))
  }

  /** The last cosigned checkpoint of a log. `origin`: the SHA-256 of its origin in hex. Null: the log is not known. */
  async checkpoint(origin: string): Promise<string | null> {
    const state = await this.state()
    const found = Object.entries(state.logs).find(([name]) => sha256(name) === origin)?.[1]
    if (found === undefined || found.vkeys.length === 0 || found.last === null) return null
    const { checkpoint, at } = found.last
    const { text, lines } = splitNote(checkpoint)
    return formatNote(text, [...lines, signatureLine(await this.#mustSign(state), text, seconds(at))])
  }

  #submit(command: ProofCommand, asker: Asker): Promise<Submitted> {
    return this.#ports.mailbox.submit(command, asker, { fact: false })
  }

  async #signer({ vkey }: WitnessState): Promise<NoteSigner | null> {
    return (await this.#ports.keys.read()).find(({ key }) => formatVkey(key) === vkey) ?? null
  }

  async #mustSign(state: WitnessState): Promise<NoteSigner> {
    const signer = await this.#signer(state)
    if (signer !== null) return signer
    throw new StreamError(
      'WITNESS_KEY_MISSING',
      `this process does not have the secret of the witness's key ${state.vkey}; put back its file witness.key, or make a ` +
        'new key (keepup witness key) and give it to the logs',
    )
  }
}
