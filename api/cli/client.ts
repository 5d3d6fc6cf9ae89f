import { hc } from 'hono/client'
import type { App } from '../http/app.ts'
import { LAGS } from '../http/lag-headers.ts'
import type { Backend } from '../process/owner/backend.ts'

/** The typed client of the HTTP API over any backend. `onLag`: called when an answer is older than the log. */
export const clientOf = (backend: Pick<Backend, 'fetch'>, onLag: () => void) =>
  hc<App>('http://localhost', {
    fetch: async (input: Request | string | URL, init?: RequestInit) => {
      const response = await backend.fetch(new Request(input, init))
      if (response.headers.has(LAGS)) onLag()
      return response
    },
  })
export type Client = ReturnType<typeof clientOf>
