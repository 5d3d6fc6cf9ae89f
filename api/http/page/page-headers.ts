import { hash } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { STORY_STYLE } from '../../operations/pack/story.ts'

/** Headers of every answer: pages of other origins may not frame it, read it or guess its type. */
const COMMON = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const

/**
 * The page loads only its own files, has no inline code, and cannot be framed. It frames the story of a pack, which
 * inherits this policy: its style is allowed by the hash, and a forged one loads nothing from elsewhere.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  // The editor of documents runs Loro, which is WebAssembly of this origin.
  "script-src 'self' 'wasm-unsafe-eval'",
  `style-src 'self' 'sha256-${hash('sha256', STORY_STYLE, 'base64')}'`,
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  'frame-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types keepup-worker ProseMirrorClipboard',
].join('; ')

export const PAGE_HEADERS = {
  ...COMMON,
  'content-security-policy': PAGE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const

const ANSWER_HEADERS = { ...COMMON, 'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox" }

/** A browser that opens an API answer directly shows text, never a page. */
export const answerHeaders: MiddlewareHandler = async (c, next) => {
  await next()
  for (const [name, value] of Object.entries(ANSWER_HEADERS)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value)
  }
}
