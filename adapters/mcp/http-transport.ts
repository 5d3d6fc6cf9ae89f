import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { boundedFetch } from './bounded-fetch.ts'

/** MCP over streamable HTTP. A message beyond the bounds ends the connection, and with it the calls that wait for an answer. */
export class HttpTransport extends StreamableHTTPClientTransport {
  /** Why keepup ended the connection; null: keepup did not. */
  ending: string | null = null

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    super(new URL(url), {
      fetch: boundedFetch((error) => {
        this.ending = `was ended: ${error.message}`
        void this.close()
      }),
      requestInit: { headers },
      // Reconnections are ours, with their own waits.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 1_000,
        reconnectionDelayGrowFactor: 1,
      },
    })
  }
}
