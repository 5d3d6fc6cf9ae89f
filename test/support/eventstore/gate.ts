import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** The port of a node. It can be shut, cut, or left open without a server, like after a suspended process. */
export class Gate {
  readonly #inner: () => number
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #server: Server | null = null
  #frozen = false
  port = 0
  /** The number of connections so far. */
  accepted = 0

  /** `inner`: the target port of the connections. */
  constructor(inner: () => number) {
    this.#inner = inner
  }

  async open(port = this.port): Promise<void> {
    const server = createServer((outside) => this.#join(outside))
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    this.#server = server
    this.port = (server.address() as AddressInfo).port
  }

  /** The number of open connections. */
  get standing(): number {
    return this.#pairs.size
  }

  #join(outside: Socket): void {
    this.accepted++
    const inside = connect(this.#inner(), '127.0.0.1')
    const pair = [outside, inside] as const
    this.#pairs.add(pair)
    for (const [one, other] of [pair, [inside, outside] as const]) {
      one.setNoDelay()
      one.on('data', (data) => {
        if (!other.write(data)) one.pause()
      })
      other.on('drain', () => {
        if (!this.#frozen) one.resume()
      })
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.#pairs.delete(pair)
        other.destroy()
      })
    }
    if (this.#frozen) pause(pair)
  }

  /** Keeps connections and accepts new ones, but transfers no bytes. */
  freeze(): void {
    this.#frozen = true
    for (const pair of this.#pairs) pause(pair)
  }

  thaw(): void {
    this.#frozen = false
    for (const [one, other] of this.#pairs) {
      one.resume()
      other.resume()
    }
  }

  /** Cuts all connections. */
  drop(): void {
    for (const [outside, inside] of this.#pairs) {
      outside.resetAndDestroy()
      inside.destroy()
    }
  }

  async shut(): Promise<void> {
    const server = this.#server
    if (!server) return
    this.#server = null
    const closed = once(server, 'close')
    server.close()
    this.drop()
    await closed
  }
}

function pause([one, other]: readonly [Socket, Socket]): void {
  one.pause()
  other.pause()
}
