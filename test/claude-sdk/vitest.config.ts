import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Needs the packages of this folder: `npm run test:claude-sdk` installs them.
export default defineConfig({
  // The example imports the SDK as a user's program does.
  resolve: {
    alias: {
      '@anthropic-ai/claude-agent-sdk': join(
        import.meta.dirname,
        'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs',
      ),
    },
  },
  test: { include: ['test/claude-sdk/*.test.ts'], testTimeout: 300_000, hookTimeout: 60_000 },
})
