import type { AgentNode } from '../../operations/runs/schemas.ts'
import type { Paint } from './colours.ts'
import { oneLine } from './text.ts'

/** The characters of an agent's id next to its role, enough to find the agent in `tree`. */
const ID_SHOWN = 4

/** The members of an agent for the heading of its lines. */
type Named = Pick<(typeof AgentNode)['_output'], 'agentId' | 'depth' | 'role'>

/**
 * Prints the agents of a followed run on one terminal. The root's text and lines are unchanged. Each line of another
 * agent starts with its name, indented by its depth. Text of other agents is printed line by line, because several
 * agents write at once.
 */
export class Voices {
  readonly #rootId: string
  readonly #write: (text: string) => void
  readonly #paint: Paint
  readonly #names = new Map<string, string>()
  /** Incomplete lines of agents below the root. */
  readonly #begun = new Map<string, string>()
  #midLine = false

  constructor(rootId: string, write: (text: string) => void, paint: Paint) {
    this.#rootId = rootId
    this.#write = write
    this.#paint = paint
  }

  /** Registers the name of an agent for its later lines. */
  meet({ agentId, depth, role }: Named): void {
    if (agentId === this.#rootId) return
    const name = `${oneLine(role ?? 'agent')} ${agentId.slice(0, ID_SHOWN)} │ `
    this.#names.set(agentId, '  '.repeat(Math.max(1, depth)) + this.#paint('dim', name))
  }

  /** Prints text as it arrives. `text`: sanitized for a terminal. */
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

  /** Prints a line about an agent's action, after the agent's text so far. */
  line(agentId: string, line: string): void {
    this.#endWords(agentId)
    this.#put(agentId, line)
  }

  /** Ends every incomplete line. */
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
