import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type NetConnectOpts, type Socket } from 'node:net'

/** `up`: from the client to the server; `down`: from the server to the client. */
export type Direction = 'up' | 'down'

/**
 * A fault of one direction. `delay`: bytes arrive `amount` ms late. `stall`: bytes wait, as in a partition that TCP
 * outlives. `silence`: bytes are lost, so the connection never works again, and new connections get no answer. `limit`:
 * the connection that passes `amount` more bytes is reset there, also in the middle of a frame. The faults `cut`,
 * `reset` and `refuse` concern whole connections: they end, are reset, or are also reset when they are new.
 */
export interface Fault {
  readonly kind: 'delay' | 'stall' | 'silence' | 'limit' | 'cut' | 'reset' | 'refuse'
  readonly direction: Direction
  readonly amount: number
}

interface Rules {
  delayMs: number
  stalled: boolean
  silent: boolean
  /** The bytes until the reset. */
  left: number
}

const working = (): Rules => ({ delayMs: 0, stalled: false, silent: false, left: Number.POSITIVE_INFINITY })

/** A TCP proxy whose network fails on command, each direction separately. */
export class FaultProxy {
  readonly #rules: Record<Direction, Rules> = { up: working(), down: working() }
  readonly #links = new Set<Link>()
  readonly #server
  #refuses = false
  /** The number of connections so far. */
  accepted = 0

  /** `to`: the address of the server. */
  constructor(to: NetConnectOpts) {
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      this.accepted++
      if (this.#refuses) return void client.on('error', () => undefined).resetAndDestroy()
      const link = new Link(client, createConnection({ ...to, allowHalfOpen: true }), this.#rules)
      this.#links.add(link)
      link.over.then(() => this.#links.delete(link))
    })
  }

  /** Returns the port, on the loopback interface. */
  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** The number of open connections. */
  get open(): number {
    return this.#links.size
  }

  apply({ kind, direction, amount }: Fault): void {
    const rules = this.#rules[direction]
    if (kind === 'delay') rules.delayMs = amount
    else if (kind === 'stall') rules.stalled = true
    else if (kind === 'silence') rules.silent = true
    else if (kind === 'limit') rules.left = amount
    else {
      this.#refuses = kind === 'refuse'
      for (const link of this.#links) link.end(kind !== 'cut')
    }
  }

  /** Ends all faults. Connections that have lost bytes stay silent: their users must notice. */
  heal(): void {
    Object.assign(this.#rules.up, working())
    Object.assign(this.#rules.down, working())
    this.#refuses = false
    for (const link of this.#links) link.goOn()
  }

  close(): void {
    this.#server.close()
    for (const link of this.#links) link.end(true)
  }
}

/** The two connections of a client with its server. */
class Link {
  readonly over: Promise<unknown>
  readonly #sockets: readonly [client: Socket, server: Socket]
  readonly #flows: readonly Flow[]

  constructor(client: Socket, server: Socket, rules: Record<Direction, Rules>) {
    this.#sockets = [client, server]
    const reset = () => this.end(true)
    this.#flows = [new Flow(client, server, rules.up, reset), new Flow(server, client, rules.down, reset)]
    // A connection that failed is reset on its other side too. One that ended passes its end on in order.
    for (const socket of this.#sockets) socket.setNoDelay().on('error', reset)
    this.over = Promise.all(this.#sockets.map((socket) => once(socket, 'close').catch(() => undefined)))
  }

  end(isReset: boolean): void {
    // A Unix socket has no reset.
    for (const socket of this.#sockets)
      isReset && socket.remoteFamily !== undefined ? socket.resetAndDestroy() : socket.destroy()
  }

  goOn(): void {
    for (const flow of this.#flows) flow.goOn()
  }
}

/** The bytes of one direction, in order. */
class Flow {
  readonly #to: Socket
  readonly #rules: Rules
  readonly #reset: () => void
  /** Bytes and the time from which they may pass, in ms; null: the end. */
  readonly #queue: { readonly bytes: Buffer | null; readonly at: number }[] = []
  #timer: NodeJS.Timeout | null = null
  #isLost: boolean

  constructor(from: Socket, to: Socket, rules: Rules, reset: () => void) {
    this.#isLost = rules.silent
    this.#to = to
    this.#rules = rules
    this.#reset = reset
    from.on('data', (bytes: Buffer) => {
      this.#take(bytes)
      if (to.writableNeedDrain) from.pause()
    })
    from.once('end', () => this.#take(null))
    from.once('close', () => {
      clearTimeout(this.#timer ?? undefined)
      if (this.#queue.length === 0) to.destroySoon()
    })
    to.on('drain', () => from.resume())
  }

  #take(bytes: Buffer | null): void {
    this.#isLost ||= this.#rules.silent
    if (this.#isLost) return
    this.#queue.push({ bytes, at: performance.now() + this.#rules.delayMs })
    this.goOn()
  }

  /** Passes on everything that is due. */
  goOn(): void {
    clearTimeout(this.#timer ?? undefined)
    this.#timer = null
    while (!this.#rules.stalled && this.#queue.length > 0) {
      const wait = this.#queue[0]!.at - performance.now()
      if (wait > 0 && this.#rules.delayMs > 0) {
        this.#timer = setTimeout(() => this.goOn(), wait)
        return
      }
      this.#pass(this.#queue.shift()!.bytes)
    }
  }

  #pass(bytes: Buffer | null): void {
    if (bytes === null) return void this.#to.end()
    const rules = this.#rules
    const whole = bytes.length < rules.left
    this.#to.write(whole ? bytes : bytes.subarray(0, rules.left))
    rules.left -= bytes.length
    if (whole) return
    // The limit holds for one connection. Write before the reset: the bytes before the limit arrive.
    rules.left = Number.POSITIVE_INFINITY
    this.#queue.length = 0
    this.#isLost = true
    setImmediate(this.#reset)
  }
}
