import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { mcpFetch } from './bounded-fetch.ts'

/** MCP over streamable HTTP. A message beyond the bounds ends the connection and its pending calls. */
export class HttpTransport extends StreamableHTTPClientTransport {
  /** Why keepup ended the connection; null if it did not. */
  ending: string | null = null

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    super(new URL(url), {
      fetch: mcpFetch((error) => {
        this.ending = `was ended: ${error.message}`
        void this.close()
      }),
      requestInit: { headers },
      // keepup reconnects with its own delays.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 1_000,
        reconnectionDelayGrowFactor: 1,
      },
    })
  }
}
