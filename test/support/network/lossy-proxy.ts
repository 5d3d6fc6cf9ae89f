import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { draws } from '../faults/seed.ts'

/** One in so many requests is lost, and one in so many pieces of an event stream ends it. */
const LOST = 5
const STREAM_CUT = 20
/** The longest delay of a request, in ms. */
const LONGEST_DELAY = 60

/** What becomes of a request: it does not arrive, its answer does not, or the answer is cut. */
const FATES = ['reset', 'unanswered', 'cut'] as const

/** A proxy in front of a server on loopback that loses a fifth of the requests, in an order that its seed decides. */
export class LossyProxy {
  readonly #server: Server
  readonly #target: number
  readonly #draw: (below: number) => number
  /** False: every request passes. */
  lossy = false
  /** The requests and streams that were lost so far. */
  lost = 0

  private constructor(target: number, seed: number) {
    this.#target = target
    this.#draw = draws(seed)
    this.#server = createServer((req, res) => void this.#pass(req, res).catch(() => res.destroy()))
  }

  /** `target`: the port of the server. */
  static async open(target: number, seed: number): Promise<LossyProxy> {
    const proxy = new LossyProxy(target, seed)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req)
    const isLost = this.lossy && this.#draw(LOST) === 0
    const fate = isLost ? FATES[this.#draw(FATES.length)] : 'arrives'
    if (isLost) this.lost++
    if (this.lossy) await new Promise((resolve) => setTimeout(resolve, this.#draw(LONGEST_DELAY)))
    if (fate === 'reset') return void res.destroy()
    const { method, headers, url: path } = req
    const to = request({ host: '127.0.0.1', port: this.#target, method, headers, path, agent: false })
    res.on('close', () => to.destroy())
    to.on('error', () => res.destroy())
    to.on('response', (answer) => {
      answer.on('error', () => res.destroy())
      if (fate === 'unanswered') {
        // The server has done what the request asked for.
        answer.resume().on('end', () => res.destroy())
        return
      }
      res.writeHead(answer.statusCode!, answer.headers)
      res.flushHeaders()
      const isStream = answer.headers['content-type']?.startsWith('text/event-stream') === true
      answer.on('data', (piece: Buffer) => {
        const isCut = isStream && this.lossy && this.#draw(STREAM_CUT) === 0
        if (isCut) this.lost++
        if (fate !== 'cut' && !isCut) return void res.write(piece)
        // Half of a piece arrives.
        res.write(piece.subarray(0, piece.length / 2), () => res.destroy())
        answer.destroy()
      })
      answer.on('end', () => res.end())
    })
    to.end(body)
  }
}
