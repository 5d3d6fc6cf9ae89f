import type { EventView } from '../../operations/events/schemas.ts'
import type { RunNews } from '../../operations/runs/run-news.ts'

type Piece = Extract<RunNews, { kind: 'text' | 'output' }>

/** The events after which an agent's text or tool output of a turn may be shown. */
const OPENS: Readonly<Record<string, Piece['kind']>> = {
  model_call_start: 'text',
  tool_call_start: 'output',
  tool_call_intent: 'output',
  tool_call_retry: 'output',
}

/**
 * Orders live text relative to the events of the log, which arrive later. Holds back the text of a turn until the
 * turn's event has been shown. {@link flush} shows the rest, so no text is lost.
 */
export class InOrder {
  readonly #show: (piece: Piece) => void
  readonly #open = new Map<string, number>()
  #held: Piece[] = []

  constructor(show: (piece: Piece) => void) {
    this.#show = show
  }

  text(piece: Piece): void {
    if (this.#held.length === 0 && this.#isOpen(piece)) this.#show(piece)
    else this.#held.push(piece)
  }

  /** Call after the event has been shown. */
  event(event: EventView): void {
    const kind = OPENS[event.type]
    if (kind === undefined) return
    this.#open.set(`${event.agentId} ${kind}`, event.turn)
    const held = this.#held
    this.#held = []
    for (const piece of held) {
      if (this.#isOpen(piece)) this.#show(piece)
      else this.#held.push(piece)
    }
  }

  flush(): void {
    for (const piece of this.#held) this.#show(piece)
    this.#held = []
  }

  #isOpen({ agentId, kind, turn }: Piece): boolean {
    return turn <= (this.#open.get(`${agentId} ${kind}`) ?? -1)
  }
}
