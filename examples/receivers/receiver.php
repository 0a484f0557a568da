<?php
// A receiver for PHP: WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 receiver.php
declare(strict_types=1);

/** Whether the header X-Service-Signature was made with this secret, over these raw bytes, within 300 seconds. */
function verify(string $body, string $header, string $secret, int $now): bool
{
    $times = $signatures = [];
    foreach (explode(',', $header) as $pair) {
        [$name, $value] = explode('=', $pair, 2) + ['', ''];
        if ($name === 't') $times[] = $value;
        if ($name === 'v1') $signatures[] = $value;
    }
    if ($secret === '' || strlen($header) > 4096 || count($times) !== 1 || !preg_match('/^[0-9]{1,12}$/D', $times[0])) {
        return false;
    }
    $expected = hash_hmac('sha256', "$times[0].$body", $secret);
    $genuine = false;
    foreach (array_slice($signatures, 0, 8) as $signature) {
        $genuine = hash_equals($expected, $signature) || $genuine;
    }
    return $genuine && abs($now - (int) $times[0]) <= 300;
}

/**
 * Keeps an event once, whole or not at all. Do the work later, from there: 5 seconds are soon over. Leave a file of this
 * name there after the work: the event can come again.
 */
function store(string $id, string $body): void
{
    $inbox = getenv('INBOX') ?: 'inbox';
    is_dir($inbox) || @mkdir($inbox, recursive: true);
    $temporary = "$inbox/.$id." . bin2hex(random_bytes(8));
    $written = @file_put_contents($temporary, $body) === strlen($body);
    $kept = $written && (@link($temporary, "$inbox/$id.json") || file_exists("$inbox/$id.json"));
    @unlink($temporary);
    $kept || throw new RuntimeException("The event $id could not be stored"); // 500: it comes again
}

if (PHP_SAPI === 'cli' && ($argv[1] ?? '') === 'check') {
    while (($line = fgets(STDIN)) !== false) {
        ['body' => $body, 'header' => $header, 'now' => $now, 'secret' => $secret] = json_decode($line, true);
        echo verify(base64_decode($body), $header, $secret, $now) ? "ok\n" : "refused\n";
    }
    exit;
}

http_response_code(500); // the answer until the event is stored, also after a warning that PHP shows
$body = file_get_contents('php://input', length: 1 << 20);
$genuine = verify($body, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '', (string) getenv('WEBHOOK_SECRET'), time());
$id = $genuine ? json_decode($body, true)['id'] ?? null : null;
$hasId = is_string($id) && preg_match('/^evt_\w+$/D', $id); // without one, the webhook's envelope is b
if ($hasId) store($id, $body);
http_response_code($hasId ? 200 : 400);
