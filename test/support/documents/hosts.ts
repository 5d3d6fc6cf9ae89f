import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate as turn } from 'node:timers/promises'
import { tokenPath } from '../../../api/http/token.ts'
import { commandLine, environment, type Place } from '../faults/cli.ts'

/** A process of `keepup serve` that can be killed and restarted on the same data. */
export class Host {
  readonly #place: Place
  readonly #env: Readonly<Record<string, string>>
  #child: ChildProcess | null = null
  #url: Promise<string>
  kills = 0

  constructor(place: Place, name: string, env: Readonly<Record<string, string>>) {
    this.#place = { ...place, data: join(place.root, name) }
    this.#env = env
    this.#url = this.#start()
    this.#url.catch(() => undefined)
  }

  /** Sends a request as soon as the process serves. Rejects if the process dies. */
  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    const url = await this.#url
    const authorization = `Bearer ${readFileSync(tokenPath(this.#place.data), 'utf8').trim()}`
    return fetch(`${url}${path}`, { ...init, headers: { ...init.headers, authorization } })
  }

  /** Kills the process and starts another. */
  async kill(): Promise<void> {
    const child = this.#child!
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    this.kills += 1
    this.#url = ended.then(() => this.#start())
    this.#url.catch(() => undefined)
    await this.#url
  }

  async stop(): Promise<void> {
    await this.#url.catch(() => undefined)
    const child = this.#child
    if (child === null || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  #start(): Promise<string> {
    const [program, args] = commandLine(this.#place, ['serve', '--port', '0'])
    const env = environment(this.#place, this.#env)
    const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child = child
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const said: string[] = []
    createInterface(child.stderr!).on('line', (line) => {
      said.push(line)
      const url = /serving .* on (http:\/\/[\d.]+:\d+)/.exec(line)?.[1]
      if (url !== undefined) resolve(url)
    })
    child.once('exit', () => reject(new Error(`keepup serve ended:\n${said.slice(-20).join('\n')}`)))
    return promise
  }
}

/** Asks the hosts in turn until one answers, like a client whose server has died. */
export async function askAny(
  hosts: readonly Host[],
  first: number,
  path: string,
  init?: RequestInit,
): Promise<Response> {
  for (let n = first; ; n++) {
    try {
      const answer = await hosts[n % hosts.length]!.ask(path, init)
      // A truncated body counts as no answer.
      const body = await answer.arrayBuffer()
      if (answer.status < 500) return new Response(body.byteLength === 0 ? null : body, { status: answer.status })
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('keepup serve ended')) throw error
    }
    await turn()
  }
}
