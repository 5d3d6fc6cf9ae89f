import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

/**
 * A proxy that can go silent, like a firewall that dropped its connection state: connections stay open and accept data,
 * and nothing comes back.
 */
export class SilentProxy {
  readonly #pairs = new Map<Socket, Socket>()
  readonly #server
  #deaf = false
  #slow: (() => void) | null = null
  #until: { readonly text: string; readonly heard: () => void } | null = null

  /** `path`: the socket of the server. */
  constructor(path: string) {
    this.#server = createServer((from) => {
      if (this.#deaf) return
      this.#slow?.()
      const to = createConnection(path)
      this.#pairs.set(from, to)
      from.on('data', (bytes: Buffer) => {
        to.write(bytes)
        if (this.#until === null || !bytes.includes(this.#until.text)) return
        // Only this connection: its answer is not read.
        to.removeAllListeners('data').pause()
        this.#until.heard()
        this.#until = null
      })
      to.on('data', (bytes: Buffer) => from.write(bytes))
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        one.on('error', () => undefined)
        one.on('close', () => other.destroy())
      }
    })
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** Makes open connections silent; `deaf`: new ones too. */
  silence({ deaf = false } = {}): void {
    this.#deaf = deaf
    for (const [from, to] of this.#pairs) {
      from.removeAllListeners('data').resume()
      to.removeAllListeners('data').resume()
    }
  }

  /**
   * Resolves when a connection has sent this text. The server handles the request, but the connection receives neither
   * this answer nor later ones.
   */
  silenceAt(text: string): Promise<void> {
    return new Promise((heard) => {
      this.#until = { text, heard }
    })
  }

  /**
   * The connection that sends this text gets its answer one piece at a time: one piece per new connection, then the
   * rest.
   */
  async slowAt(text: string, connections: number): Promise<void> {
    await this.silenceAt(text)
    const [from, to] = [...this.#pairs].find(([, to]) => to.isPaused())!
    let left = connections
    to.on('data', (bytes: Buffer) => {
      from.write(bytes)
      if (left > 0) to.pause()
    })
    this.#slow = () => {
      left--
      to.resume()
    }
  }

  close(): void {
    this.#server.close()
    for (const [from, to] of this.#pairs) {
      from.destroy()
      to.destroy()
    }
  }
}
