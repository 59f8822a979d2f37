/** The import rules of the house (docs/architecture.md), each with the sentence a violator needs. */
const capabilities =
  'account|api-keys|audit|workspaces|files|mutations|snapshots|receipts|master-key|secrets|masking|shell|ssh|terminal|analysis|agent';
const tests = '\\.test\\.ts$|/testing/';

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Two files that need each other are one idea: merge them or pass a value.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'contract-is-pure',
      severity: 'error',
      comment: 'contract/ describes the interface: it may import zod and itself only.',
      from: { path: '^daemon/contract/', pathNot: tests },
      to: { pathNot: '^daemon/contract/|node_modules/zod' },
    },
    {
      name: 'lib-knows-no-product',
      severity: 'error',
      comment: 'lib/ is what any program could use: node and packages only.',
      from: { path: '^daemon/lib/', pathNot: tests },
      to: { path: '^(daemon/(?!lib/)|renderer|main|e2e)' },
    },
    {
      name: 'http-knows-no-capability',
      severity: 'error',
      comment: 'http/ serves routes it is handed; a capability comes in as data.',
      from: { path: '^daemon/http/', pathNot: tests },
      to: { path: `^daemon/(${capabilities}|daemon\\.ts|config\\.ts)` },
    },
    {
      name: 'capability-takes-instances',
      severity: 'error',
      comment: 'Another capability is handed in by daemon.ts; import only its types.',
      from: { path: `^daemon/(${capabilities})/`, pathNot: tests },
      to: { path: `^daemon/(${capabilities})/`, pathNot: '^daemon/$1/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'core-does-no-http',
      severity: 'error',
      comment: 'Only routes.ts is the edge; a core throws coded errors and returns values.',
      from: { path: `^daemon/(${capabilities})/`, pathNot: `${tests}|routes\\.ts$` },
      to: { path: '^daemon/http/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'routes-stay-thin',
      severity: 'error',
      comment: 'A route calls its core; files, processes and crypto belong there.',
      from: { path: '/routes\\.ts$' },
      to: { path: '^(node:)?(fs|child_process|crypto|net)(/|$)' },
    },
    {
      name: 'one-composition-root',
      severity: 'error',
      comment:
        'Only daemon.ts (and state.ts, its file of slices, and workspace-(doors|secrets).ts remote-hosts.ts and ssh-core.ts) wires capabilities together; a command is its own root.',
      from: {
        path: '^daemon/[^/]+\\.ts$',
        pathNot: '^daemon/(daemon|state|workspace-(doors|secrets)|remote-hosts|ssh-core|verify-folder)\\.ts$',
      },
      to: { path: `^daemon/(${capabilities})/`, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'panel-is-a-client',
      severity: 'error',
      comment: 'The panel speaks HTTP: of the daemon it may import contract types only.',
      from: { path: '^renderer/' },
      to: { path: '^(daemon/(?!contract/)|main/|node:)' },
    },
    {
      name: 'panel-takes-types',
      severity: 'error',
      comment: 'Import the contract with "import type": the panel ships no schemas.',
      from: { path: '^renderer/' },
      to: { path: '^daemon/contract/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'desktop-is-thin',
      severity: 'error',
      comment: 'main/ starts the daemon by path and shares contract types with it, nothing more.',
      from: { path: '^main/', pathNot: tests },
      to: { path: '^(daemon|renderer)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'daemon-is-plain-node',
      severity: 'error',
      comment: 'The daemon runs without Electron.',
      from: { path: '^daemon/' },
      to: { path: '^(main|renderer)/|node_modules/electron' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Tests may reach anywhere; and the parser does not know `using` declarations, which they are full of.
    exclude: { path: '\\.test\\.ts$|/testing/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json'],
      conditionNames: ['import', 'node', 'default'],
    },
    builtInModules: { add: ['node:sqlite', 'node:test'] },
  },
};
