import type { Tell } from '../../operations/notices.ts'
import type { BesideLoss } from './tables-beside-loss.ts'

/** The pause before the next check while a loss blocks writes or after a failed check, in ms. */
const LOOK_AGAIN_MS = 3_000

/** Reports a loss of the log, and checks again until it is accepted. */
export class LossWatch {
  readonly #beside: Pick<BesideLoss, 'look' | 'losses'>
  readonly #tell: Tell
  #isOpen = false
  #timer: NodeJS.Timeout | null = null

  constructor(beside: Pick<BesideLoss, 'look' | 'losses'>, tell: Tell) {
    this.#beside = beside
    this.#tell = tell
    this.#report()
  }

  /** Checks whether the log has lost its end. Retries a failed check later. */
  async look(): Promise<void> {
    try {
      await this.#beside.look()
    } catch {
      // Other parts report servers that do not answer.
      return this.#again()
    }
    this.#report()
  }

  close(): void {
    clearInterval(this.#timer ?? undefined)
    this.#timer = null
  }

  #report(): void {
    const { loss, over, refusal } = this.#beside.losses.gate
    const wasOpen = this.#isOpen
    this.#isOpen = loss !== null
    if (loss === null) this.close()
    else this.#again()
    if (loss !== null && !wasOpen) this.#tell(refusal!.message)
    if (loss === null && wasOpen && over === null) this.#tell('the loss of the log was accepted: this process goes on')
  }

  #again(): void {
    this.#timer ??= setInterval(() => void this.look(), LOOK_AGAIN_MS).unref()
  }
}
