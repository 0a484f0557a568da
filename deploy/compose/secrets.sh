#!/bin/sh
# Makes what compose.yaml needs beside it: a file for each secret, and .env. Keeps what exists.
set -eu
cd "$(dirname "$0")"
# containers read the files as users of their own; on this machine, only the folder's owner reaches them
mkdir -p secrets
chmod 700 secrets
[ -s secrets/master_key ] || openssl rand -base64 32 > secrets/master_key
[ -s secrets/postgres_password ] || openssl rand -hex 16 > secrets/postgres_password
[ -s secrets/database_url ] || echo "postgres://wac:$(cat secrets/postgres_password)@postgres/wac" > secrets/database_url
# Prometheus reads /metrics with it
[ -s secrets/metrics_token ] || openssl rand -hex 16 > secrets/metrics_token
chmod 644 secrets/*
[ -e .env ] || cp example.env .env
