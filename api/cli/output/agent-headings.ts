import type { AgentNode } from '../../operations/runs/schemas.ts'
import type { Paint } from './colours.ts'
import { oneLine } from './text.ts'

/** The beginning of an agent's id that stands beside its role: enough to find it in `tree`. */
const ID_SHOWN = 4

/** An agent as a heading of its lines names it. */
type Named = Pick<(typeof AgentNode)['_output'], 'agentId' | 'depth' | 'role'>

/**
 * The agents of a followed run on one terminal. The root's words and lines stand as they are. Each line of another agent
 * bears its name, further in the deeper it works; its words are shown line by line, because several agents speak at once.
 */
export class Voices {
  readonly #rootId: string
  readonly #write: (text: string) => void
  readonly #paint: Paint
  readonly #names = new Map<string, string>()
  /** Words of agents below the root whose line has not ended. */
  readonly #begun = new Map<string, string>()
  #midLine = false

  constructor(rootId: string, write: (text: string) => void, paint: Paint) {
    this.#rootId = rootId
    this.#write = write
    this.#paint = paint
  }

  /** From now on the lines of an agent bear its name. */
  meet({ agentId, depth, role }: Named): void {
    if (agentId === this.#rootId) return
    const name = `${oneLine(role ?? 'agent')} ${agentId.slice(0, ID_SHOWN)} │ `
    this.#names.set(agentId, '  '.repeat(Math.max(1, depth)) + this.#paint('dim', name))
  }

  /** Words as they come. `text`: safe for a terminal. */
  text(agentId: string, text: string): void {
    if (text === '') return
    if (agentId === this.#rootId) {
      this.#write(text)
      this.#midLine = !text.endsWith('\n')
      return
    }
    const lines = `${this.#begun.get(agentId) ?? ''}${text}`.split('\n')
    this.#begun.set(agentId, lines.pop() ?? '')
    for (const line of lines) this.#put(agentId, line)
  }

  /** A line about what an agent does, after the words that it has said. */
  line(agentId: string, line: string): void {
    this.#endWords(agentId)
    this.#put(agentId, line)
  }

  /** Ends every line that was begun. */
  end(): void {
    for (const agentId of [...this.#begun.keys()]) this.#endWords(agentId)
    this.#endRoot()
  }

  #endWords(agentId: string): void {
    const words = this.#begun.get(agentId) ?? ''
    this.#begun.delete(agentId)
    if (words !== '') this.#put(agentId, words)
  }

  #put(agentId: string, line: string): void {
    this.#endRoot()
    if (agentId !== this.#rootId && !this.#names.has(agentId)) this.meet({ agentId, depth: 1, role: null })
    this.#write(`${this.#names.get(agentId) ?? ''}${line}\n`)
  }

  #endRoot(): void {
    if (this.#midLine) this.#write('\n')
    this.#midLine = false
  }
}
