import type { OpenServices } from './owner/connect.ts'
// placeholder to type-check; replaced below
export const openServices: OpenServices = (() => Promise.reject(new Error('not wired'))) as never
