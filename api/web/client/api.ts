import { hc } from 'hono/client'
import type { App } from '../../http/app.ts'

export const api = hc<App>('/')
