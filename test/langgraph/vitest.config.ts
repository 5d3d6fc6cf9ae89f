import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['suite.test.ts'], globals: true, hookTimeout: 60_000, testTimeout: 60_000 },
})
