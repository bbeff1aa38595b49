import ts from 'typescript';
import { NEUTRAL_FOLDERS } from './imports.js';
import { breachesIn, filesUnder, type Law, type SourceFile } from './law.js';

// What differs between places or runs: the platform, its clock and its randomness.
const FORBIDDEN_GLOBALS = new Set(
  (
    'process Buffer performance crypto console fetch XMLHttpRequest WebSocket Worker navigator document localStorage ' +
    'setTimeout setInterval setImmediate queueMicrotask requestAnimationFrame require __dirname __filename'
  ).split(' '),
);

const FORBIDDEN_MEMBERS = new Set(['Date.now', 'Date.parse', 'Math.random']);

// These use the time zone or language of the machine.
const MACHINE_METHODS =
  /^(toLocale\w*|localeCompare|getTimezoneOffset|[gs]et(FullYear|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds))$/;

export const noClockAndNoChance: Law = {
  title: 'core to engine know no clock, no randomness, no I/O and no setting of the machine',
  fix: 'Take it as an argument: a time in milliseconds, a seed, the bytes. Of a Date use the UTC methods alone.',
  breaches: (files) =>
    filesUnder(files, ...NEUTRAL_FOLDERS).flatMap((file) => {
      const declared = declaredNames(file);
      return breachesIn(file, (node) => impurity(node, declared));
    }),
};

export const oneFileAsksIntl: Law = {
  title: 'Intl, which knows the language and the zone of the machine, is asked by src/core/zone.ts alone',
  fix: 'Ask src/core for times and zones; what it cannot answer yet, add there.',
  breaches: (files) =>
    filesUnder(files, ...NEUTRAL_FOLDERS)
      .filter(({ path }) => path !== 'src/core/zone.ts')
      .flatMap((file) =>
        breachesIn(file, (node) => (ts.isIdentifier(node) && node.text === 'Intl' ? 'asks Intl' : undefined)),
      ),
};

function impurity(node: ts.Node, declared: ReadonlySet<string>): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return memberImpurity(node);
  const callee = ts.isNewExpression(node) || ts.isCallExpression(node) ? node.expression : undefined;
  if (callee !== undefined && isDateOfNow(node as ts.NewExpression | ts.CallExpression)) {
    return `takes the time of now (${callee.getText()} without arguments)`;
  }
  if (!ts.isIdentifier(node) || !FORBIDDEN_GLOBALS.has(node.text) || declared.has(node.text)) return undefined;
  return isReference(node) ? `uses ${node.text}` : undefined;
}

function memberImpurity(node: ts.PropertyAccessExpression): string | undefined {
  const owner = node.expression.getText().replace(/^globalThis\./, '');
  const member = node.name.text;
  if (FORBIDDEN_MEMBERS.has(`${owner}.${member}`)) return `uses ${owner}.${member}`;
  if (owner === 'globalThis' && FORBIDDEN_GLOBALS.has(member)) return `uses globalThis.${member}`;
  if (member === 'toLocaleString' && namesItsLanguage(node.parent)) return undefined;
  if (MACHINE_METHODS.test(member)) return `uses ${member}, which answers by the machine's zone or language`;
  return undefined;
}

function namesItsLanguage(call: ts.Node): boolean {
  const language = ts.isCallExpression(call) ? call.arguments[0] : undefined;
  return language !== undefined && ts.isStringLiteral(language);
}

function isDateOfNow(node: ts.NewExpression | ts.CallExpression): boolean {
  const name = node.expression.getText().replace(/^globalThis\./, '');
  return name === 'Date' && (ts.isCallExpression(node) || (node.arguments ?? []).length === 0);
}

/** Whether an identifier stands for a value and does not merely name a member or field. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  const isName = 'name' in parent && parent.name === node && !ts.isShorthandPropertyAssignment(parent);
  return !isName && !ts.isQualifiedName(parent);
}

/** Names that the file declares itself, such as a parameter called `process`. */
function declaredNames(file: SourceFile): Set<string> {
  const names = new Set<string>();
  breachesIn(file, (node) => {
    const declares =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isImportSpecifier(node);
    if (declares && node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text);
    return undefined;
  });
  return names;
}
